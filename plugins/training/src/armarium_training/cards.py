"""Model cards: what is known of a model trained here, in a file next to its weights; scores are appended to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from armarium.api import Engine, Library, flush_path
from armarium_training.whole_files import writing

CARD, CONFIG = ".card.json", "config.json"
MADE_BY = ".made-by"
"""In the folder of a model: the job that created it."""
EVALUATED = "evaluated"
"""The folder for scores of models that were not trained here."""


@dataclass(frozen=True)
class Place:
    """A card on disk, with its content."""

    path: Path
    store: str
    card: dict[str, Any]
    fault: str | None = None

    @property
    def model_id(self) -> str:
        """Return the id of the model."""
        return str(self.card.get("id") or self.path.name.removesuffix(CARD))

    @property
    def weights(self) -> Path | None:
        """Return the model's file, if it exists; for a model that is a folder, its config.json."""
        stem = self.path.name.removesuffix(CARD)
        whole = self.path.parent / stem / CONFIG
        if whole.is_file():
            return whole
        beside = sorted(self.path.parent.glob(f"{literal(stem)}.*"))
        return next((path for path in beside if not path.name.endswith((CARD, ".part", ".undone"))), None)

    @property
    def size_bytes(self) -> int | None:
        """Return the size on disk of the model's file or folder; None if it is gone."""
        weights = self.weights
        if weights is None:
            return None
        files = weights.parent.rglob("*") if weights.name == CONFIG else [weights]
        return sum(path.stat().st_size for path in files if path.is_file())


def literal(name: str) -> str:
    """Return *name* as a pattern that matches only itself."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def file_name(model_id: str) -> str:
    """Return the file name for a model's id: `service-trained/<name>` contains a slash."""
    return model_id.replace("/", "--")


def global_folder(engine: Engine) -> Path:
    """Return where this machine stores models for all projects."""
    return engine.settings.state_dir / "models"


def cards_in(folder: Path) -> Iterator[Place]:
    """Return the cards below a folder of models, in the order of their files; one that cannot be read says why."""
    if not folder.is_dir():
        return
    for path in sorted(folder.glob(f"*/*{CARD}")):
        if path.parent.name != EVALUATED and path.is_file() and not path.is_symlink():
            yield read_card(path)


def read_card(path: Path) -> Place:
    """Read the card at *path*. One that a person damaged is returned empty, with the error."""
    store = path.parent.name
    try:
        # It refuses what no answer could contain: numbers that are none, halves of characters.
        card = orjson.loads(path.read_bytes())
        if not isinstance(card, dict):
            raise ValueError("it is not a JSON object")
    except (OSError, ValueError, RecursionError) as error:
        return Place(path, store, {}, f"Its card cannot be read ({error}).")
    return Place(path, store, card)


def find_card(engine: Engine, library: Library, model: str, *, here: bool = False) -> Place | None:
    """Return the card of a trained model by its id or file name; the project's before the global one (*here*:
    only the project's).
    """
    stem = model.removesuffix(".onnx")
    for folder in (library.models,) if here else (library.models, global_folder(engine)):
        for place in cards_in(folder):
            weights = place.weights
            if stem in (place.model_id, place.path.name.removesuffix(CARD)) or (
                weights is not None and model == weights.name
            ):
                return place
    return None


def is_taken(engine: Engine, library: Library, model_id: str, job_id: str) -> bool:
    """Return whether a model of the project or machine has that id, or had it before an undo; the job's own
    does not count.
    """
    name = file_name(model_id)
    for folder in (library.models, global_folder(engine)):
        for path in (
            *folder.glob(f"*/{literal(name)}{CARD}"),
            *folder.glob(f"*/{literal(name)}{CARD}.undone"),
        ):
            if read_card(path).card.get("job_id") != job_id:
                return True
        for path in folder.glob(f"*/{literal(name)}"):
            mark = path / MADE_BY
            # An interrupted landing has left its folder without a card.
            if path.is_dir() and not (mark.is_file() and mark.read_text("utf-8") == job_id):
                return True
    return False


def free_id(engine: Engine, library: Library, model_id: str, job_id: str) -> str:
    """Return *model_id*, or with -2, -3, … if one from a job other than *job_id* has it."""
    number, free = 1, model_id
    while is_taken(engine, library, free, job_id):
        number += 1
        free = f"{model_id}-{number}"
    return free


def write_card(path: Path, card: Mapping[str, Any]) -> None:
    """Write a card atomically. Conflict if the disk is full."""
    with writing(path) as beside:
        beside.write_text(json.dumps(card, ensure_ascii=False, indent=1), "utf-8")
        flush_path(beside)


def add_evaluation(path: Path, about: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
    """Append *entry* to the card at *path*, once per job; a missing card starts with *about*.

    A card that cannot be read is not touched.
    """
    place = read_card(path) if path.is_file() else Place(path, path.parent.name, dict(about))
    if place.fault is not None:
        return
    evaluations = history_of(place.card)
    if all(evaluation.get("job_id") != entry["job_id"] for evaluation in evaluations):
        write_card(path, {**place.card, "evaluations": [*evaluations, dict(entry)]})


def history_of(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the evaluations on a card, oldest first; invalid ones are skipped."""
    entries = card.get("evaluations")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def pages_on(listed: Any) -> list[dict[str, Any]]:
    """Return pages as a card lists them, {document_id, checksum}; damaged entries are skipped."""
    if not isinstance(listed, list):
        return []
    return [page for page in listed if isinstance(page, dict) and isinstance(page.get("document_id"), str)]


def trained_on(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pages of the training set of a card's model."""
    taught = card.get("training_set")
    return pages_on(taught.get("documents") if isinstance(taught, dict) else None)


def evaluated_card(library: Library, reader: str, model: str) -> Path:
    """Return where the project stores the scores of a model that was not trained here."""
    return library.models / EVALUATED / f"{reader}--{file_name(model)}{CARD}"


def may_publish(card: Mapping[str, Any]) -> bool:
    """Return whether the card says explicitly that the model may be given away."""
    return card.get("not_for_release") is False


def entry_of_run(
    engine: Engine, library: Library, job_id: str, reader: str, model: str, *, trained: bool
) -> dict[str, Any] | None:
    """Return what the evaluation *job_id* wrote on a model's card; None without card or entry."""
    place = find_card(engine, library, model) if trained else None
    path = evaluated_card(library, reader, model) if place is None else place.path
    history = history_of(read_card(path).card) if path.is_file() else []
    return next((entry for entry in history if entry.get("job_id") == job_id), None)
