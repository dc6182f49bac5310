"""The rules, as data: which work is joined to what was asked for; how each piece of work becomes a step, with
which settings and why; and the remedy for each kind of problem.

Nothing is decided here: `assembling` and `checking` read these tables. A condition holds if everything it
states holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from armarium_recipes.schemas.recipe import Fix, ProblemKind, When

TRAINING_FROM_PAGES = 5_000
"""The number of pages from which training is offered."""

CORRECTED_LINES_TO_TRAIN = 500
"""The number of lines corrected by a person from which training is offered."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be true of the answers for a rule to apply."""

    with_job: str | None = None
    """The recipe has a step for this work."""
    materials: tuple[str, ...] = ()
    """Some of the material is of one of these kinds."""
    only: tuple[str, ...] = ()
    """All of the material is of these kinds."""
    pages_at_least: int = 0
    trainable_reader: bool = False
    """The chosen reader can be trained further here."""


@dataclass(frozen=True, slots=True)
class JoinedWork:
    """Work that is added to a recipe without being asked for."""

    job: str
    where: Condition
    because: str
    when: When = field(default_factory=When)
    offered_when: When = field(default_factory=When)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Work that was asked for but has nothing to do."""

    jobs: frozenset[str]
    where: Condition
    because: str


@dataclass(frozen=True, slots=True)
class StepRule:
    """How a piece of work becomes a step. The steps of a recipe are in the order of these rules."""

    job: str
    step: str
    because: str
    needs: tuple[str, ...] = ()
    """Work that must be done before it."""
    applies_to: str = "pages"
    by_script: bool = False
    """Whether it needs a model that knows script, language and material."""
    given: tuple[str, str] | None = None
    """A setting that only a person can give, and the sentence that asks for it."""


@dataclass(frozen=True, slots=True)
class SettingRule:
    """A setting of a step that follows from the answers: `$language` means the first language the model names."""

    job: str
    setting: str
    value: Any
    because: str


_READ, _LINES, _NAMES = "read-a-line", "find-lines", "find-names-tag-words"

STEPS: tuple[StepRule, ...] = (
    StepRule("prepare-the-image", "prepare", "Pictures are levelled before anything is looked for on them."),
    StepRule("split-pages", "split", "A photograph of an open book is two pages: it is split at its gutter first."),
    StepRule(_LINES, "find-lines", "Reading lines requires knowing where they are.", by_script=True),
    StepRule("find-regions", "find-regions", "Blocks of text are formed from the lines and the white space between them.", (_LINES,)),
    StepRule("put-in-order", "put-in-order", "Columns, margins and footnotes are put in reading order.", (_LINES,)),
    StepRule("refine-shapes", "refine-shapes", "Each line gets an outline of its own ink.", (_LINES,)),
    StepRule("find-signs", "find-signs", "Marks and signs are found by their shape.",
             given=("examples", "Name examples of the signs in the step's settings (examples).")),
    StepRule("find-a-tables-cells", "cells", "Rows and columns are found before they are read.", ("find-regions",)),
    StepRule(_READ, "read", "The lines are read one by one.", (_LINES,), applies_to="lines", by_script=True),
    StepRule("read-a-page", "read-pages", "Lines are found and read in one go.", by_script=True),
    StepRule("tie-text-to-lines", "tie-text", "Existing text is divided among the lines.", (_LINES,)),
    StepRule("correct", "correct", "A model reviews what was read; what a person wrote is not changed.", (_READ,), "readings"),
    StepRule("trace-a-drawing", "trace", "Drawings are stored as drawings.", ("find-regions",)),
    StepRule("identify-signs", "identify-signs", "A model says what the signs are.", ("find-signs",)),
    StepRule("transcribe-speech", "speech", "Speech is transcribed."),
    StepRule("translate-transliterate-normalise", "translate", "Each line is rendered beside its transcription.",
             (_READ,), "readings"),
    StepRule("find-documents-in-a-folder", "find-documents", "The text of the pages shows which of them make a document.",
             (_READ,)),
    StepRule("split-into-entries", "entries", "Registers and lists are divided into their entries.", (_READ,)),
    StepRule("extract-to-a-table", "table", "The contents of the pages are put into rows and columns.", (_READ,)),
    StepRule(_NAMES, "names", "Names are found in what was read.", (_READ,)),
    StepRule("work-out-dates", "dates", "Dates are derived from the mentions on each page.", (_NAMES,)),
    StepRule("find-statements", "statements", "Statements are looked for where names were found.", (_READ, _NAMES)),
    StepRule("link-to-authorities", "authorities", "Names are linked to the entries of an authority file.", (_NAMES,),
             given=("file", "Name the authority file in the step's settings (file).")),
    StepRule("place-in-a-gazetteer", "places", "Places are looked up in a gazetteer.", (_NAMES,),
             given=("file", "Name the gazetteer file in the step's settings (file).")),
    StepRule("make-a-vector", "vectors", "Pages are also found by their meaning.", (_READ,)),
    StepRule("describe-for-the-catalogue", "catalogue", "Each page gets a record for the catalogue.", (_READ,)),
    StepRule("pull-out-passages", "passages", "Passages are identified by their lines.", (_READ,)),
    StepRule("train-a-model", "train", "A reader learns the hand from corrected lines.", (_READ,)),
    StepRule("check", "check", "Readings are checked before they are used.", (_READ,)),
    StepRule("export", "export", "Files of the pages are written into a folder.",
             given=("folder", "Name the folder to write into in the step's settings (folder).")),
    StepRule("publish", "publish", "The pages are published as a site.",
             given=("folder", "Name the folder of the site in the step's settings (folder).")),
)  # fmt: skip
"""All work that the rules know, in the order of the steps of a recipe."""

RULE_OF: Mapping[str, StepRule] = {rule.job: rule for rule in STEPS}

LAYER_JOBS: Mapping[str, tuple[str, ...]] = {
    "prepare": ("prepare-the-image", "split-pages"),
    "lines": (_LINES,),
    "reading": (_READ, "correct"),
    "structure": ("split-into-entries",),
    "entities": (_NAMES,),
    "graph": ("work-out-dates", "find-statements", "link-to-authorities"),
    "places": ("place-in-a-gazetteer",),
    "vectors": ("make-a-vector",),
    "catalogue": ("describe-for-the-catalogue",),
    "knowledge": ("pull-out-passages",),
    "train": ("train-a-model",),
    "check": ("check",),
    "output": ("export", "publish"),
}
"""The work that a layer means when it is asked for by name."""

PICTURES = ("handwriting", "print", "typescript")

JOINED: tuple[JoinedWork, ...] = (
    JoinedWork("split-pages", Condition(with_job=_LINES, materials=PICTURES),
           "Only pictures that look like an open book are split.", when=When(spreads_detected=True)),
    JoinedWork("train-a-model", Condition(with_job=_READ, pages_at_least=TRAINING_FROM_PAGES, trainable_reader=True),
           f"From {TRAINING_FROM_PAGES:,} pages, training a reader of your own is worth the effort.",
           offered_when=When(corrected_lines_at_least=CORRECTED_LINES_TO_TRAIN)),
)  # fmt: skip
"""Work that is joined to what was asked for."""

LEFT_OUT: tuple[LeftOut, ...] = (
    LeftOut(
        frozenset(
            {
                "prepare-the-image", "split-pages", _LINES, "find-regions", "put-in-order", "refine-shapes", "find-signs",
                "find-a-tables-cells", _READ, "read-a-page", "tie-text-to-lines", "correct", "trace-a-drawing",
                "identify-signs", "transcribe-speech",
            }
        ),
        Condition(only=("text",)),
        "The material is already text: nothing needs to be found or read on pictures.",
    ),
)  # fmt: skip
"""Work that is left out."""

SETTINGS: tuple[SettingRule, ...] = (
    SettingRule(_READ, "language", "$language", "The lines are read as {language}."),
    SettingRule("read-a-page", "language", "$language", "The pages are read as {language}."),
    SettingRule("work-out-dates", "language", "$language", "Months and days are looked for in {language}."),
    SettingRule("extract-to-a-table", "columns", ["Entry", "Person", "Place", "Date", "Amount"],
                "The columns are those of most registers; name your own in the settings."),
)  # fmt: skip
"""Settings that follow from the answers."""


@dataclass(frozen=True, slots=True)
class CardReason:
    """Why a card is ranked before the next: the first of these in which they differ. `at`: its place in the
    order of the rules.
    """

    at: int
    because: str


CARD_REASONS: tuple[CardReason, ...] = (
    CardReason(0, "“{name}” does the whole work; “{next}” only stands in for a model."),
    CardReason(1, "“{name}” has the lowest known error rate ({cer}; “{next}”: {next_cer})."),
    CardReason(2, "“{name}” runs on this machine, and “{next}” does not."),
    CardReason(3, "“{name}” costs less than “{next}”."),
    CardReason(4, "“{name}” is faster than “{next}”, and their errors do not differ."),
    CardReason(5, "“{name}” needs less energy than “{next}”."),
    CardReason(6, "“{name}” can be trained further here, and “{next}” cannot."),
    CardReason(
        7,
        "“{name}” is smaller than “{next}”, or better by its authors' own figures, and they do not differ otherwise.",
    ),
    CardReason(8, "“{name}” and “{next}” do not differ; the first by name is used."),
)
"""In the order in which cards are ranked."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """The remedies for a kind of problem: the first thing to do, and all of them."""

    fix: Fix | None
    fixes: tuple[Fix, ...] = field(default=())


REMEDIES: Mapping[ProblemKind, Remedy] = {
    "no-model-for-job": Remedy("choose-model", ("choose-model", "choose-cloud")),
    "no-model-for-script": Remedy("choose-model", ("choose-model", "choose-cloud")),
    "no-model-for-language": Remedy("choose-model", ("choose-model", "choose-cloud")),
    "no-reader-for-material": Remedy("choose-model", ("choose-model", "choose-cloud")),
    "licence-not-accepted": Remedy("accept-licence", ("accept-licence", "choose-model")),
    "cloud-not-allowed": Remedy("allow-cloud", ("allow-cloud", "choose-model")),
    "not-enough-memory": Remedy("choose-model", ("choose-model", "choose-cloud")),
    "malformed": Remedy(None),
}
"""The remedy for each kind of problem."""

FORBIDDEN_WORDS: Mapping[str, str] = {
    **dict.fromkeys(
        ("code", "script", "python", "javascript", "js", "lua", "lambda", "function", "eval", "import", "module", "entrypoint"),
        "code",
    ),
    **dict.fromkeys(("command", "cmd", "shell", "bash", "sh", "exec", "execute", "argv", "args", "subprocess"), "a command"),
    **dict.fromkeys(
        ("secret", "password", "passwd", "passphrase", "token", "apikey", "key", "credential", "authorization", "auth",
         "bearer", "cookie", "login"),
        "a secret",
    ),
    **dict.fromkeys(("tool", "agent", "mcp", "plugin", "skill"), "an agent's tool"),
    **dict.fromkeys(
        ("url", "uri", "href", "address", "endpoint", "webhook", "callback", "host", "hostname", "port", "proxy", "server",
         "baseurl", "apibase"),
        "an address to call",
    ),
}  # fmt: skip
"""Words that no key of a recipe may contain, and what each of them names."""

PIN_FORMS: tuple[tuple[str, ...], ...] = (
    ("hub", "revision"),
    ("repository",),
    ("linereader", "linereader_version"),
    ("tesseract", "traineddata"),
    ("spacy", "version"),
    ("builtin",),
    ("cloud", "model"),
    ("role",),
)
"""The forms in which a step names its model, each by its keys."""
