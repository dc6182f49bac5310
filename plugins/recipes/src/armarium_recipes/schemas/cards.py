"""What is known about a model that can do a piece of work: one form, whatever the source."""

from __future__ import annotations

from typing import Any, Literal

from armarium.api import Message
from armarium_recipes.schemas.recipe import CardChoice

Source = Literal["shipped", "installed", "linereader-repository", "model-hub", "cloud"]
RefusalKind = Literal[
    "no-model-for-job",
    "no-model-for-script",
    "no-model-for-language",
    "no-reader-for-material",
    "licence-not-accepted",
    "cloud-not-allowed",
    "not-enough-memory",
    "not-here",
]


class Refusal(Message):
    """Why the rules do not choose a card."""

    reason: str
    kind: RefusalKind


class Download(Message):
    """How a model that is not here is downloaded: POST /api/local-models/download/{runtime}/{id}."""

    runtime: str
    id: str


class Card(Message):
    """A model, what it is for, and what is known about its quality, its speed and where it runs."""

    id: str
    """`<runtime>:<source>@<version>`."""
    name: str
    source: Source
    pin: dict[str, Any]
    jobs: list[str]
    material: list[str]
    scripts: list[str]
    """Codes of ISO 15924; empty: any."""
    languages: list[str]
    """BCP 47 tags; empty: any."""
    licence: str | None
    open_licence: bool
    size_gb: float
    memory_gb: float
    trainable: bool
    runs_where: Literal["this_mac", "own_machine", "provider"]
    availability: Literal["ships", "installed", "download", "elsewhere", "not_here"]
    availability_words: str
    installed: bool
    download: Download | None = None
    in_recipe_rules: bool = True
    stands_in: bool = False
    """Whether it does only part of the work, in place of a model: the rules use it if nothing else does the work."""
    offered_because: str = ""
    cost_per_page: float | None = 0.0
    """US dollars; None where no price is known."""
    pages_per_hour: float | None = None
    speed_measured: bool = False
    """Whether that is how fast it read pages of this project, rather than what its makers state."""
    carbon_g_per_page: float | None = None
    cer_published: float | None = None
    cer_of_authors: float | None = None
    """What its authors measured on pages of their own: it orders only cards that are alike in all else but their size."""
    cer_measured_here: float | None = None
    measured: dict[str, Any] | None = None
    note: str | None = None
    rule_rank: int | None = None
    refused: Refusal | None = None
    reader: str | None = None
    """The installed reader (driver group armarium.readers) that runs it; None if it is not a reader."""
    model: str | None = None
    """The name of the model for that reader or provider."""
    provider: str | None = None
    """The provider to ask, for models that do not run here."""

    @property
    def place(self) -> str:
        """Where it runs, as a step of a recipe names it."""
        return f"cloud:{self.provider or self.source}" if self.runs_where == "provider" else "this-machine"

    def step_fields(self) -> dict[str, Any]:
        """Return what a step of a recipe that works with it says of it."""
        return {
            "card": CardChoice(id=self.id, source=self.source),
            "model": dict(self.pin),
            "runs_on": self.place,
            "uses_cloud": self.runs_where == "provider",
        }

    @classmethod
    def stating(cls, **stated: Any) -> Card:
        """Return a card with what is *stated* of a model; what is not is as of an open one that comes with the engine, runs
        on this machine and reads anything.
        """
        return cls(**{**_UNSTATED, **stated})


_UNSTATED: dict[str, Any] = {
    "source": "shipped",
    **dict.fromkeys(("material", "scripts", "languages"), ()),
    "licence": None,
    "open_licence": True,
    "size_gb": 0,
    "memory_gb": 1.0,
    "trainable": False,
    "runs_where": "this_mac",
    "availability": "ships",
    "availability_words": "It comes with the engine.",
    "installed": True,
}
