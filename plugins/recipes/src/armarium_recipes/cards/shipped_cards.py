"""Cards of what is shipped with the engine: work that needs no model, readers with their weights, published
language data for them, and the names of readers that are missing, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from armarium.api import Engine
from armarium_reading.api import (
    ModelFile,
    Reader,
    installed_readers,
    is_line_reader,
    models_folder,
    runtime_folder,
)
from armarium_recipes.schemas.cards import Card, Download

CAPABILITIES = {"find_lines": "find-lines", "read_lines": "read-a-line", "read_page": "read-a-page"}
"""What a reader can do, by the job of a recipe that needs it."""

WITHOUT_MODEL = {
    "find-names-tag-words": (
        "Names that the project knows",
        "It finds the names that are already in the project, without asking a model.",
    ),
    "check": ("The checker without a model", "It compares readings with each other and with the page."),
}
"""Work that can be done with a model or without one."""

STAND_INS = frozenset({"find-names-tag-words"})
"""The work among these of which only a part can be done without a model."""

MATERIALS_OF = {"hand": ("handwriting",), "print": ("print", "typescript")}


@cache
def facts() -> dict[str, Any]:
    """Return what is known about the models shipped with the engine (`facts.json`)."""
    facts_by_name: dict[str, Any] = json.loads(
        files("armarium_recipes.cards").joinpath("facts.json").read_text("utf-8")
    )
    return facts_by_name


def shipped_cards(engine: Engine) -> Iterator[Card]:
    """Return every card that does not depend on the models present on this machine."""
    yield from _of_work_without_models(engine)
    readers = {reader.name: reader for reader in installed_readers(engine) if reader.why_not(None) is None}
    for reader in readers.values():
        for model in models_of(engine, reader):
            if model.shipped and (card := card_of_reader(reader, model, source="shipped")) is not None:
                yield card
    yield from _list_reader_cards(engine, readers)
    if "tesseract" in readers:
        yield from _language_data(engine, readers["tesseract"])
    for reader in readers.values():
        yield from _of_offers(engine, reader)
    yield from _list_choice_cards(readers.values())


def models_of(engine: Engine, reader: type[Reader]) -> list[ModelFile]:
    """Return the models that this machine has for *reader*; none if they cannot be listed."""
    try:
        return reader.models_here(
            models_folder(engine, reader.model_kind or reader.name), runtime_folder(engine, reader)
        )
    except Exception:
        # A third-party driver; a model that it cannot list is not chosen.
        return []


def runtime_of(reader: type[Reader]) -> str:
    """Return the first part of the ids of its cards."""
    return "linereader" if is_line_reader(reader) else reader.name


def materials_of(reader: type[Reader]) -> list[str]:
    """Return the material it is meant for."""
    kinds = [kind for kind in ("hand", "print") if kind in reader.writing]
    return [material for kind in kinds for material in MATERIALS_OF[kind]]


def primary_subtag(language: str) -> str:
    """Return the tag of the language without region, script and variants."""
    return language.replace("_", "-").split("-")[0].lower()


def card_of_reader(reader: type[Reader], model: ModelFile, *, source: str, **more: Any) -> Card | None:
    """Return the card of one of a reader's models; None for a file that it does not read with (language data
    of no language).
    """
    model_facts = facts()["models"].get(f"{reader.name}:{model.model}", {})
    scripts, languages = list(reader.scripts), list(reader.languages)
    if reader.name == "tesseract":
        name = model.model.rpartition("/")[2]
        data = facts()["tesseract"].get(name)
        scripts, languages = ([data[0]], data[1:]) if data else ([], [])
    jobs = [
        CAPABILITIES[capability]
        for capability in CAPABILITIES
        if capability in reader.can and capability != "find_lines"
    ]
    if not jobs:
        return None
    is_here = source == "shipped" and model.shipped
    fields: dict[str, Any] = {
        "id": f"{runtime_of(reader)}:{model.model}@1",
        "name": model.label,
        "source": source,
        "pin": pin_of(reader, model.model),
        "jobs": jobs,
        "material": materials_of(reader),
        "scripts": scripts,
        "languages": languages,
        "size_gb": gigabytes(model.size_bytes),
        "availability": "ships" if is_here else "installed",
        "availability_words": "It comes with the engine." if is_here else "It is on this machine.",
        "cer_published": model.details.get("cer") if model.shipped else None,
        "pages_per_hour": model.details.get("pages_per_hour") if model.shipped else None,
        "reader": reader.name,
        "model": None if model.shipped else model.model,
    }
    return Card.stating(**{**fields, **model_facts, **more})


def pin_of(reader: type[Reader], model: str) -> dict[str, Any]:
    """Return how a recipe names the model."""
    if reader.name == "tesseract":
        return {"tesseract": "5", "traineddata": model}
    if runtime_of(reader) == "linereader":
        return {"linereader": model, "linereader_version": "1"}
    return {"builtin": f"{reader.name}:{model}"}


def gigabytes(size: int | None) -> float:
    """Return *size* in bytes as GB; 0 if it is unknown."""
    return round((size or 0) / 1e9, 4)


def _of_work_without_models(engine: Engine) -> Iterator[Card]:
    for job in engine.recipe_jobs.values():
        if job.id in WITHOUT_MODEL or not (job.uses_llm or job.provider_setting):
            yield _builtin(job.id, *WITHOUT_MODEL.get(job.id, (job.name, job.description)))
    if "check" not in engine.recipe_jobs and engine.actions.find("check.run") is not None:
        yield _builtin("check", *WITHOUT_MODEL["check"])


def _builtin(job_id: str, name: str, note: str) -> Card:
    return Card.stating(
        id=f"builtin:{job_id}@1",
        name=name,
        pin={"builtin": job_id},
        jobs=[job_id],
        licence="Apache-2.0",
        memory_gb=0.3,
        availability_words="It comes with the engine and needs no model.",
        note=note,
        stands_in=job_id in STAND_INS,
    )


def _list_reader_cards(engine: Engine, readers: Mapping[str, type[Reader]]) -> Iterator[Card]:
    """Return the cards of readers by name, present or not: a person who looks for one is told why it is not chosen."""
    for entry in facts()["standing"]:
        fields = dict(entry)
        why = fields.pop("needs_weights", None)
        reader = readers.get(fields["reader"])
        if reader is not None and why is not None and models_of(engine, reader):
            continue
        runtime = _lacking_runtime(engine, reader) if reader is not None else None
        if runtime is not None:
            why = runtime if why is None else f"{runtime} {why}"
        elif reader is None and why is None:
            why = f"The reader {fields['reader']} is not installed in this engine."
        yield Card.stating(
            **{
                "availability": "ships" if why is None else "not_here",
                "availability_words": why or "It comes with the engine.",
                "installed": why is None,
                **fields,
            }
        )


def _lacking_runtime(engine: Engine, reader: type[Reader]) -> str | None:
    """Return a sentence if the runtime of *reader* is not installed."""
    if reader.runtime is None or runtime_folder(engine, reader) is not None:
        return None
    return f"The runtime {reader.runtime.name} is not installed (armarium runtime install {reader.runtime.name})."


def _language_data(engine: Engine, reader: Any) -> tuple[Card, ...]:
    """Return cards of the data published by Tesseract's makers that is not on this machine."""
    here = frozenset(model.model.rpartition("/")[2] for model in models_of(engine, reader))
    return _list_published(reader, here)


@lru_cache(4)
def _list_published(reader: Any, here: frozenset[str]) -> tuple[Card, ...]:
    cards = (
        card_of_reader(
            reader,
            ModelFile(name, f"Tesseract's data {name}", None, 12_000_000),
            source="shipped",
            licence="Apache-2.0",
            memory_gb=0.3,
            availability="download",
            availability_words="Tesseract's makers publish it; it is downloaded when it is first needed.",
            installed=False,
            download=Download(runtime="tesseract", id=name),
        )
        for name in facts()["tesseract"]
        if name not in here
    )
    return tuple(card for card in cards if card is not None)


def _of_offers(engine: Engine, reader: type[Reader]) -> Iterator[Card]:
    """Return the cards of the published models that *reader* knows by name and that are not on this machine."""
    here = {model.label for model in models_of(engine, reader)}
    lacks = _lacking_runtime(engine, reader)
    for offer in reader.offers():
        if offer.model in here:
            continue
        card = card_of_reader(
            reader,
            ModelFile(offer.model, offer.title, None, offer.size_bytes),
            source="shipped",
            material=[material for kind in offer.writing for material in MATERIALS_OF[kind]],
            scripts=list(offer.scripts),
            languages=list(offer.languages),
            licence=offer.licence,
            availability="not_here" if lacks else "download",
            availability_words=lacks
            or f"{offer.authors} published it; it is downloaded after you agreed (armarium models get {offer.model}).",
            installed=False,
            download=None if lacks else Download(runtime=reader.model_kind or reader.name, id=offer.model),
            cer_of_authors=offer.cer,
            # Their rate is of pages like those it was trained on; ours are of sources that nothing was trained on.
            note=f"It reads {offer.reads}."
            + (f" Its authors state a CER of {offer.cer:.1%} on pages of their own." if offer.cer else ""),
        )
        if card is not None:
            yield card


def _list_choice_cards(readers: Any) -> Iterator[Card]:
    """Return the choice among readers for each page by a sample of its lines: for material of several kinds."""
    # One that needs a model takes part once its model was measured here.
    able = [reader for reader in readers if "read_lines" in reader.can and reader.calibration]
    if len(able) < 2:
        return
    scripts = [script for script in able[0].scripts if all(script in reader.scripts for reader in able[1:])]
    tags = [
        language for language in able[0].languages if all(language in reader.languages for reader in able[1:])
    ]
    yield Card.stating(
        id="builtin:fitting-reader@1",
        name="The reader that fits each page",
        pin={"builtin": "fitting-reader"},
        jobs=["read-a-line"],
        material=list(dict.fromkeys(material for reader in able for material in materials_of(reader))),
        scripts=scripts,
        languages=tags,
        licence="Apache-2.0",
        note=f"Tries {' and '.join(reader.label for reader in able)} on a few lines of each page; a page departs from the reader of "
        "its folder only where another is clearly better.",
    )
