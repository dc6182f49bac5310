"""French rows for the table of cues: which words begin and end wills and letters."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_finding.api import NAME, Cue, CueTable, Party

FRENCH = CueTable(
    cues=(
        Cue(
            "will heading",
            "opening",
            "fr",
            r"^(?:ceci est mon testament|(?:mon )?testament\b|je,? soussigne|.{0,20}mes dernieres volontes)",
            3.0,
            "Testament",
        ),
        Cue(
            "place-and-date line",
            "opening",
            "fr",
            r"^[^\W\d][\w .'’-]{1,40}?,? (?:le )?\d{1,2}(?:er)? (?:janvier|fevrier|mars|avril|mai|juin|juillet|aout"
            r"|septembre|octobre|novembre|decembre) \d{4}",
            1.0,
        ),
        Cue(
            "letter salutation",
            "opening",
            "fr",
            r"^(?:ma|mon|mes) (?:bien )?(?:cher|chere|chers|cheres)\b",
            2.0,
            "Lettre",
        ),
        Cue("done at", "closing", "fr", r"^fait (?:a|en) ", 2.0),
    ),
    parties=(Party("addressee", "fr", rf"^A Monsieur ({NAME})"),),
)


@hookimpl
def armarium_plugin() -> Plugin:
    """French cues."""
    return Plugin(name="french_cues", summary="French cues for finding documents")


@hookimpl
def armarium_finding_cues() -> CueTable:
    """The table above."""
    return FRENCH
