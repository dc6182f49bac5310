"""A fixed set of cards for the tests of the rules: every property of its models is known, and none is on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from armarium.api import Engine
from armarium_recipes.schemas.cards import Card
from armarium_testing.fixtures import OWNER_TOKEN

HANDS, PRINT = ["handwriting"], ["print", "typescript"]
ALL = ["handwriting", "print", "typescript"]


def card(identity: str, **more: Any) -> Card:
    """Return a card; properties that a test does not name get plain values."""
    stated: dict[str, Any] = {
        "id": identity,
        "name": identity.partition(":")[2].partition("@")[0],
        "source": "shipped",
        "pin": {"builtin": identity},
        "jobs": ["read-a-line"],
        "material": [],
        "scripts": [],
        "languages": [],
        "licence": "Apache-2.0",
        "open_licence": True,
        "size_gb": 0.1,
        "memory_gb": 1.0,
        "trainable": False,
        "runs_where": "this_mac",
        "availability": "ships",
        "availability_words": "It is here.",
        "installed": True,
        **more,
    }
    return Card(**stated)


def repository(number: int, **more: Any) -> Card:
    """Return a model of the line readers' repository that can be downloaded."""
    doi = f"10.5281/zenodo.{number}"
    return card(
        f"linereader:{doi}@1",
        **{
            "source": "linereader-repository",
            "pin": {"repository": doi},
            "availability": "download",
            "installed": False,
            **more,
        },
    )


SHELF = [
    card("linereader:hand@1", material=HANDS, scripts=["Latn"], languages=["fr", "la", "es", "it", "en"],
         cer_published=0.258, trainable=True, pages_per_hour=7000),
    card("rapidocr:small@1", material=PRINT, scripts=["Latn", "Hans", "Jpan"], languages=["en", "fr", "de", "es", "zh", "ja"],
         pages_per_hour=2300),
    card("builtin:fitting@1", material=ALL, scripts=["Latn"], languages=["fr", "en", "es"]),
    card("tesseract:spa@1", material=PRINT, scripts=["Latn"], languages=["es"], size_gb=0.012),
    card("tesseract:ara@1", material=PRINT, scripts=["Arab"], languages=["ar"], size_gb=0.012),
    card("tesseract:rus@1", material=PRINT, scripts=["Cyrl"], languages=["ru"], size_gb=0.012),
    card("tesseract:deu_latf@1", material=PRINT, scripts=["Latf"], languages=["de"], size_gb=0.012),
    card("tesseract:heb@1", material=PRINT, scripts=["Hebr"], languages=["he"], size_gb=0.012),
    repository(100, material=HANDS, scripts=["Arab"], languages=["ar", "fa"], cer_published=0.031),
    repository(101, material=HANDS, scripts=["Latn"], languages=["la", "fro"], cer_published=0.082),
    repository(102, material=HANDS, scripts=["Latn"], languages=["la"], cer_published=0.088, pages_per_hour=400),
    repository(103, material=HANDS, scripts=["Hebr"], languages=["he"], cer_published=0.05, open_licence=False, licence="CC-BY-NC"),
    repository(104, material=HANDS, scripts=["Grek"], languages=["grc"], cer_published=0.06, memory_gb=24),
    repository(105, material=HANDS, scripts=["Latn"], languages=["de"], cer_published=0.07,
               availability="not_here", availability_words="It needs a runtime that is not installed."),
    repository(106, material=[], scripts=["Latn"], languages=["nl"], in_recipe_rules=False, note="It does not say what it reads."),
    card("cloud:Reader/eyes@served", source="cloud", jobs=["read-a-line", "identify-signs"], material=ALL, runs_where="provider",
         provider="Reader", model="eyes", pin={"cloud": "Reader", "model": "eyes"}, availability="elsewhere", cost_per_page=0.002,
         memory_gb=0),
    card("cloud:Writer/words@served", source="cloud", jobs=["correct", "find-statements", "find-names-tag-words"],
         runs_where="provider", provider="Writer", model="words", pin={"cloud": "Writer", "model": "words"},
         availability="elsewhere", cost_per_page=0.001, memory_gb=0),
    card("builtin:find-names-tag-words@1", jobs=["find-names-tag-words"], stands_in=True),
    card("builtin:find-lines@1", jobs=["find-lines"], material=ALL),
    # Two cards for each job, which differ in one property: the better one has the id that sorts last.
    card("cloud:Free/words@served", source="cloud", jobs=["translate-transliterate-normalise"], runs_where="provider",
         provider="Free", model="words", pin={"cloud": "Free", "model": "words"}, availability="elsewhere", memory_gb=0),
    card("local-server:Own/words@served", jobs=["translate-transliterate-normalise"], source="installed", provider="Own"),
    *(card(f"cloud:{name}/words@served", source="cloud", jobs=["pull-out-passages"], runs_where="provider", provider=name,
           model="words", pin={"cloud": name, "model": "words"}, availability="elsewhere", cost_per_page=cost, memory_gb=0)
      for name, cost in (("Cheap", 0.001), ("Apt", 0.003))),
    card("any:lean@1", jobs=["describe-for-the-catalogue"], carbon_g_per_page=0.1),
    card("any:idle@1", jobs=["describe-for-the-catalogue"], carbon_g_per_page=0.2),
    card("any:pupil@1", jobs=["split-into-entries"], trainable=True),
    card("any:clerk@1", jobs=["split-into-entries"]),
    card("any:small@1", jobs=["read-a-page"], languages=["fr"], size_gb=0.1),
    card("any:large@1", jobs=["read-a-page"], languages=["fr"], size_gb=0.9),
    card("any:twin-b@1", jobs=["transcribe-speech"]),
    card("any:twin-a@1", jobs=["transcribe-speech"]),
    card("builtin:kraken-lines@1", jobs=["find-lines"], material=ALL, availability="not_here",
         availability_words="It needs a runtime that is not installed."),
    *(card(f"builtin:{job}@1", jobs=[job]) for job in (
        "split-pages", "find-regions", "find-a-tables-cells", "put-in-order", "work-out-dates",
        "link-to-authorities", "place-in-a-gazetteer", "train-a-model", "export", "publish", "check",
        "find-documents-in-a-folder", "prepare-the-image", "refine-shapes", "tie-text-to-lines", "find-signs", "trace-a-drawing")),
]  # fmt: skip
"""Readers of print and of handwriting, two cloud services, and the work that needs no model."""

FAMILIES = (
    *(
        "documents",
        "source_model",
        "images",
        "reading",
        "layout",
        "workflows",
        "checking",
        "knowledge",
        "exports",
    ),
    *("finding", "paleography", "training", "rights", "model_jobs", "georeference", "recipes"),
)


@contextmanager
def bench_engine(folder: Path) -> Iterator[Engine]:
    """Yield an engine with every family that has recipe jobs, for a whole module."""
    from armarium.engine import Engine as Made
    from armarium.settings import Settings

    plugins = [import_module(f"armarium_{family}.plugin").armarium_plugin() for family in FAMILIES]
    engine = Made(
        Settings(state_dir=folder / "state", owner_token=OWNER_TOKEN, library_roots=[folder]), plugins=plugins
    )
    engine.start(jobs=False)
    try:
        yield engine
    finally:
        engine.close()
