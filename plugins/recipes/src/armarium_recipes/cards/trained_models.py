"""Cards of models that were trained here, and the scores that evaluations have put on cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from armarium.api import Engine, Library
from armarium_reading.api import installed_readers
from armarium_recipes.cards.shipped_cards import gigabytes, materials_of, runtime_of
from armarium_recipes.schemas.cards import Card
from armarium_training.api import TrainedModel, scores_on_cards, trained_models

POLICIES = ("diplomatic", "layout-insensitive", "lenient", "accent-blind")
"""The policies by which a CER is ranked; the first one measured is used."""

UNMEASURED = "Its error rate is unmeasured until it has read pages that were held out of its training."


def trained_cards(engine: Engine, library: Library | None) -> Iterator[Card]:
    """Return the models whose cards and weights are in the folder of the project or of this machine; the
    project's first.
    """
    readers = {reader.name: reader for reader in installed_readers(engine)}
    kinds = {reader.model_kind: reader for reader in readers.values() if reader.model_kind}
    model_ids = set[str]()
    for trained in trained_models(engine, library):
        if trained.model_id in model_ids or trained.weights is None:
            continue
        model_ids.add(trained.model_id)
        reader = kinds.get(trained.store)
        if reader is None or "read_lines" not in reader.can:
            continue
        yield _card(trained, reader, readers)


def _card(trained: TrainedModel, reader: Any, readers: Mapping[str, Any]) -> Card:
    fields = trained.card
    language = fields.get("language")
    base_licence = fields.get("base_licence")
    assert trained.weights is not None
    return Card.stating(
        id=f"{runtime_of(reader)}:{trained.model_id}@1",
        name=str(fields.get("display_name") or trained.model_id)[:300],
        source="installed",
        pin={"linereader": trained.model_id, "linereader_version": "1"},
        jobs=["read-a-line"],
        material=materials_of(reader),
        scripts=list(reader.scripts),
        languages=[language] if isinstance(language, str) and language else [],
        licence=base_licence if isinstance(base_licence, str) else None,
        size_gb=gigabytes(trained.weights.stat().st_size),
        memory_gb=0.4 if reader.name == "hand" else 4.0,
        trainable=reader.name == "hand",
        availability="installed",
        availability_words=(
            "It was trained in this project." if trained.of_project else "It was trained on this machine."
        ),
        # The rate on its validation lines is none to rank by: the best epoch was chosen by them.
        note=" ".join(
            filter(None, (str(fields.get("summary") or ""), "" if fields.get("evaluations") else UNMEASURED))
        ),
        reader=reader.name,
        model=trained.file_name,
    )


def with_scores(cards: list[Card], engine: Engine, library: Library | None) -> list[Card]:
    """Return *cards* with the CER that the newest evaluation in this project, or on this machine, gave each."""
    newest: dict[str, dict[str, Any]] = {}
    for score in scores_on_cards(engine, library):
        before = newest.get(score["model"])
        if before is None or before["measured_at"] < score["measured_at"]:
            newest[score["model"]] = score
    return [_add_score(card, _score_of(card, newest)) for card in cards]


def _score_of(card: Card, newest: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
    """Return the score of the card's model, which may have been measured under its name without the suffix of its file."""
    scored_name = _scored_as(card)
    return newest.get(scored_name) or (
        newest.get(PurePath(scored_name).stem) if card.source == "installed" else None
    )


def _scored_as(card: Card) -> str:
    """Return the name under which an evaluation stores the scores of a card's model."""
    model_name = card.pin.get("linereader")
    if card.source == "installed" and isinstance(model_name, str):
        return model_name
    return card.model or card.reader or ""


def _add_score(card: Card, score: Mapping[str, Any] | None) -> Card:
    if score is None or "read-a-line" not in card.jobs:
        return card
    cer = next((score["cer"][policy] for policy in POLICIES if policy in score["cer"]), None)
    return card.model_copy(
        update={
            "cer_measured_here": cer,
            "measured": {key: score[key] for key in ("measured_at", "job_id", "pages", "cer", "wer")},
        }
    )
