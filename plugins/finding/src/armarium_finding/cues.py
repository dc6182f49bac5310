"""The one table of cues: which words open or close a document, what kind it is, who its parties are.

Languages are rows. A plugin adds its own by the hook `armarium_finding_cues`; every row is tried on every page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Role = Literal["opening", "closing", "kind"]
PartyRole = Literal["against", "plaintiff", "named plaintiff", "defendant", "versus", "addressee"]

HEAD_LINES = 5
TAIL_LINES = 6
MOST_OPENING = 5.0
MOST_CLOSING = 3.0


@dataclass(frozen=True)
class Cue:
    """One row: *pattern* is searched in single lines: at the head for an opening, at the foot for a closing,
    on the whole page for a kind.

    Lines are compared without accents and in lower case, unless *cased*. Several matching rows of one *cue*
    on a page count once. *weight* is in log-odds.
    """

    cue: str
    role: Role
    language: str
    pattern: str
    weight: float
    kind: str | None = None
    cased: bool = False


@dataclass(frozen=True)
class Party:
    """One row that finds who is named: each group of *pattern* is a name, searched in lines as they are written."""

    role: PartyRole
    language: str
    pattern: str


@dataclass(frozen=True)
class CueTable:
    """Rows of cues and of parties."""

    cues: tuple[Cue, ...] = ()
    parties: tuple[Party, ...] = ()


def plain(line: str) -> str:
    """Return *line* in lower case without accents, as patterns that are not cased see it."""
    if line.isascii():
        return line.casefold()
    split = unicodedata.normalize("NFKD", line)
    return "".join(letter for letter in split if not unicodedata.combining(letter)).casefold()


_MONTH_ES = (
    "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre"
    "|ene|feb|mar|abr|jun|jul|ago|sept?|oct|nov|dic)"
)
_MONTH_EN = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_PLACE = r"^[^\W\d][\w .'()-]{1,40}"
_UP = "[A-ZÁÉÍÓÚÜÑÇÀÈÊÔ]"
_WORD = rf"{_UP}[\w.'’-]*"
NAME = rf"{_WORD}(?:\s+(?:(?:de|del|la|las|los|y|e|of|the|and|&|van|von|du|des)\s+)*{_WORD}){{0,5}}"
"""A name in a pattern of a `Party`: words that begin with a capital, and the short words between them."""

_TITLE = r"(?:(?:[Dd]on|[Dd]oña|D\.ª?|Dña\.|Dª|Sr\.|Sra\.|Srta\.|Mr\.?|Mrs\.?|Miss|Messrs\.?)\s+)*"

BUILTIN = CueTable(
    cues=(
        Cue(
            "court caption",
            "opening",
            "es",
            r"^(?:(?:al|el|en el) )?(?:juzgado|tribunal|audiencia (?:nacional|provincial|territorial)|magistratura"
            r"|corte (?:suprema|superior)|camara (?:nacional|federal|de apelaciones)|sala (?:primera|segunda|tercera|de lo))\b",
            3.0,
        ),
        Cue(
            "court caption",
            "opening",
            "en",
            r"^(?:in the )?(?:[\w.' ]{0,40}\b)?(?:supreme|superior|district|circuit|county|high|crown|municipal|probate)"
            r" court\b|^(?:in the )?court of (?:appeals?|claims|common pleas|chancery|session)\b",
            3.0,
        ),
        Cue("judgment heading", "opening", "es", r"^sentencia\b(?! (?:que|fue|ha)\b)", 3.0, "Sentencia"),
        Cue(
            "judgment heading",
            "opening",
            "es",
            r"^(?:en nombre (?:del rey|de la (?:nacion|republica|ley))|y vistos?\b|vistos\b[ ,:;]|visto[s]? (?:los|el presente) )",
            3.0,
            "Sentencia",
        ),
        Cue(
            "judgment heading",
            "opening",
            "en",
            r"^(?:final |default |consent )?judge?ment\b[^a-z]*(?:order)?|^opinion of the court\b",
            3.0,
            "Judgment",
        ),
        Cue(
            "complaint",
            "opening",
            "es",
            r"^(?:demanda\b|(?:interpone|interpongo|formula|formulo|promueve|promuevo|inicia|inicio|deduce) demanda\b)",
            2.5,
            "Demanda",
        ),
        Cue(
            "power of attorney",
            "opening",
            "es",
            r"^(?:escritura de |carta )?poder\b(?=$|[ .:]*$|,? (?:general|especial|notarial|amplio|bastante|para|que|otorgado))",
            2.5,
            "Poder",
        ),
        Cue(
            "hearing record",
            "opening",
            "es",
            r"^acta de (?:la )?(?:audiencia|comparecencia|juicio|vista)\b|^audiencia de (?:juicio|conciliacion|prueba)\b",
            2.5,
            "Acta de audiencia",
        ),
        Cue(
            "telegram or cable",
            "opening",
            "es",
            r"^(?:telegrama|cablegrama|radiograma|cable)\b",
            2.5,
            "Cable",
        ),
        Cue(
            "telegram or cable",
            "opening",
            "en",
            r"^(?:telegram|cablegram|radiogram|western union|cable)\b",
            2.5,
            "Cable",
        ),
        Cue(
            "letter salutation",
            "opening",
            "es",
            r"^(?:muy (?:senor|estimad|distinguid|querid|respetad|apreciad|ilustre)"
            r"|(?:mi )?(?:estimad|querid|distinguid|apreciad|respetad)[oa]s? [a-z]"
            r"|(?:excmo|ilmo|excelentisimo|ilustrisimo)[ .]+sr|(?:senor|senora|senores)[ :.,]*$)",
            2.0,
            "Carta",
        ),
        Cue(
            "letter salutation",
            "opening",
            "en",
            r"^(?:my )?(?:dear|dearest)\b|^(?:sirs?|madam|gentlemen|to whom it may concern)[ ,:;.—-]*$",
            2.0,
            "Letter",
        ),
        Cue(
            "receipt",
            "opening",
            "es",
            r"^(?:recibo\b|recibi(?:mos)? (?:de|del|la|las)\b|he(?:mos)? recibido (?:de|del|la)\b)",
            2.0,
            "Recibo",
        ),
        Cue("receipt", "opening", "en", r"^(?:receipt\b|received (?:of|from)\b)", 2.0, "Receipt"),
        Cue(
            "place-and-date line",
            "opening",
            "es",
            rf"{_PLACE},? (?:a |en )?\d{{1,2}}[ºo]? (?:de )?{_MONTH_ES}\.?,? (?:de |del )?(?:ano )?\d{{4}}",
            1.0,
        ),
        Cue(
            "place-and-date line",
            "opening",
            "en",
            rf"{_PLACE},? (?:{_MONTH_EN}\.? \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH_EN}\.?),? \d{{4}}",
            1.0,
        ),
        Cue(
            "order-to-notify formula",
            "closing",
            "es",
            r"\b(?:notifiquese|hagase saber|comuniquese|registrese y|publiquese|archivese|cumplase)\b",
            2.5,
        ),
        Cue(
            "letter close",
            "closing",
            "es",
            r"^(?:(?:muy )?atentamente|cordialmente|afectuosamente|(?:de )?(?:vd|ud|usted|v)\.?,? (?:affmo|afmo|atto|s\.? ?s)"
            r"|(?:su|suyo|tu) (?:affm[oa]|afm[oa]|afectisim[oa]|att[oa]|segur[oa] servidor)|q\.? ?[be]\.? ?s\.? ?m"
            r"|(?:le|les|os|te) saluda|saluda a (?:vd|ud|usted|v)|reciba (?:un|el|mis)|un (?:fuerte )?abrazo|dios guarde a)",
            2.0,
        ),
        Cue(
            "letter close",
            "closing",
            "en",
            r"^(?:(?:i|we) (?:am|are|remain|have the honou?r)\b.{0,40})?(?:(?:very|most) )?"
            r"(?:sincerely|respectfully|faithfully|truly|cordially|affectionately|yours)\b"
            r"(?: (?:very|sincerely|respectfully|faithfully|truly|cordially|affectionately|yours|ever|submitted))*[ ,.;]*$"
            r"|\byour (?:most )?(?:obedient|humble|affectionate|loving) \w+",
            2.0,
        ),
        Cue(
            "typed signature",
            "closing",
            "es",
            r"^\(?(?:fdo|firmado|firmada|rubricado)\b[ .:)]*",
            1.5,
        ),
        Cue("typed signature", "closing", "en", r"^(?:/s/|\(?(?:signed|sgd)\b[ .:)]*)", 1.5),
        Cue(
            "ruling",
            "kind",
            "es",
            r"^(?:fallo|fallamos|resuelvo|se resuelve|resuelve)[ :.]*",
            0.0,
            "Sentencia",
        ),
    ),
    parties=(
        Party("against", "es", rf"{_TITLE}({NAME}),?\s+[Cc]ontra\s+{_TITLE}({NAME})"),
        Party("plaintiff", "es", rf"(?i:demandante|parte actora|actora?)\s*:\s*{_TITLE}({NAME})"),
        Party(
            "named plaintiff",
            "es",
            rf"(?i:demanda|juicio|autos)\s+(?i:interpuest[oa]|promovid[oa]s?|formulad[oa]|seguid[oa]s?)\s+por\s+{_TITLE}({NAME})",
        ),
        Party("defendant", "es", rf"(?i:demandad[oa]|parte demandada)\s*:\s*{_TITLE}({NAME})"),
        Party("plaintiff", "en", rf"(?i:plaintiff)s?\s*:\s*{_TITLE}({NAME})"),
        Party("named plaintiff", "en", rf"{_TITLE}({NAME}),\s+(?i:plaintiff)\b"),
        Party("defendant", "en", rf"(?i:defendant)s?\s*:\s*{_TITLE}({NAME})"),
        Party("versus", "en", rf"{_TITLE}({NAME}),?\s+(?i:v\.|vs\.?|versus)\s+{_TITLE}({NAME})"),
        Party("addressee", "es", rf"^(?:Al\s+)?(?:Sr\.|Sra\.|Señor|Señora)\s+{_TITLE}({NAME})"),
        Party("addressee", "en", rf"^(?:To\s+)?(?:Mr\.?|Mrs\.?|Miss|Messrs\.?)\s+({NAME})"),
    ),
)
"""The rows included in the engine: Spanish and English."""


def join_tables(tables: Iterable[CueTable]) -> CueTable:
    """Return the rows of several tables as one."""
    all_tables = list(tables)
    return CueTable(
        tuple(cue for table in all_tables for cue in table.cues),
        tuple(party for table in all_tables for party in table.parties),
    )


@dataclass(frozen=True)
class ReadyTable:
    """A table with its patterns compiled, grouped by what they are tried on."""

    openings: tuple[tuple[Cue, re.Pattern[str]], ...]
    closings: tuple[tuple[Cue, re.Pattern[str]], ...]
    kinds: tuple[tuple[Cue, re.Pattern[str]], ...]
    parties: tuple[tuple[Party, re.Pattern[str]], ...]


@lru_cache(maxsize=16)
def compile_table(table: CueTable) -> ReadyTable:
    """Compile the patterns of *table*."""
    compiled = [(cue, re.compile(cue.pattern)) for cue in table.cues]
    return ReadyTable(
        tuple(entry for entry in compiled if entry[0].role == "opening"),
        tuple(entry for entry in compiled if entry[0].role == "closing"),
        tuple(entry for entry in compiled if entry[0].role == "kind"),
        tuple((party, re.compile(party.pattern)) for party in table.parties),
    )
