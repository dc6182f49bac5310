"""Reads of trainings and of the models they produced."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, query
from armarium_documents.api import pages_under
from armarium_layout.api import DETECTOR_MODELS, DETECTORS, model_type
from armarium_reading.api import installed_readers
from armarium_training import cards, errors
from armarium_training.cards import Place
from armarium_training.line_sets import line_set
from armarium_training.queries.job_rows import TRAININGS, ListedJobs, shown_job, shown_jobs, training_answer
from armarium_training.schemas.training import Models, OneModel, TrainingJob, Trainings, TrainingSet
from armarium_training.starting import pages_of


@query(
    "/api/training/set",
    summary="What a training set would contain, counted by the code that builds it",
    answer=TrainingSet,
)
def count_set(
    conn: Connection,
    library: Library,
    principal: Principal,
    teacher: Annotated[str, Query(min_length=1, max_length=200)],
    scope_ids: Annotated[list[str], Query(min_length=1)],
    held_out_ids: Annotated[list[str] | None, Query()] = None,
) -> dict[str, Any]:
    """Count without writing or sending anything. NotFound for an unknown id, Invalid for a scope without pages."""
    pages = pages_of(conn, scope_ids)
    held_out = pages_under(conn, held_out_ids or [])
    return line_set(
        conn, library, principal, teacher=teacher, page_ids=pages, held_out_ids=held_out
    ).manifest()


@query("/api/training/jobs/{job_id}", summary="A training and its result", answer=TrainingJob)
def read_training(conn: Connection, engine: Engine, library: Library, job_id: str) -> dict[str, Any]:
    """Return the training; NotFound for an id that is not a training's."""
    return training_answer(shown_job(conn, engine, library, job_id, TRAININGS, errors.unknown_training))


@query(
    "/api/training/jobs",
    summary="The trainings of the project, the newest first",
    answer=Trainings,
    refusals=(),
)
def list_trainings(
    conn: Connection, engine: Engine, library: Library, limit: ListedJobs = 50
) -> dict[str, Any]:
    """Those that run, with their curve so far, and those that ended."""
    items = [training_answer(job) for job in shown_jobs(conn, engine, library, TRAININGS, limit)]
    return {"items": items, "count": len(items)}


@query(
    "/api/training/models",
    summary="Models that were trained or fine-tuned here, the newest first",
    answer=Models,
    refusals=(),
)
def list_models(conn: Connection, engine: Engine, library: Library) -> dict[str, Any]:
    """Return each model from its card, of the project and the global store; shipped models are not included."""
    models = _read_all(engine, library)
    items = [_answer(engine, *both) for both in models.values()]
    items.sort(key=lambda model: (model["trained_at"] or "", model["id"]), reverse=True)
    return {"items": items, "count": len(items)}


@query("/api/training/model", summary="A model that was trained here, with its whole card", answer=OneModel)
def read_model(conn: Connection, engine: Engine, library: Library, model: str) -> dict[str, Any]:
    """Return the model; NotFound if it was not trained here."""
    both = _read_all(engine, library).get(model)
    if both is None:
        raise errors.unknown_model(model)
    place = both[0] or both[1]
    assert place is not None
    return {**_answer(engine, *both), "card": place.card, "evaluation_history": cards.history_of(place.card)}


def _read_all(engine: Engine, library: Library) -> dict[str, tuple[Place | None, Place | None]]:
    """Return model id to its card in the project and in the global store."""
    ours = {card.model_id: card for card in cards.cards_in(library.models)}
    everyones = {card.model_id: card for card in cards.cards_in(cards.global_folder(engine))}
    return {name: (ours.get(name), everyones.get(name)) for name in {**everyones, **ours}}


def _answer(engine: Engine, ours: Place | None, everyones: Place | None) -> dict[str, Any]:
    place = ours or everyones
    assert place is not None
    card = place.card
    history = cards.history_of(card)
    kind = _words(card.get("kind")) or "linereader-reader"
    return {
        "id": place.model_id,
        "name": _words(card.get("display_name")) or place.model_id,
        "kind": kind,
        "summary": place.fault or _words(card.get("summary")),
        **{
            key: _words(card.get(key))
            for key in ("base", "teacher", "job_id", "trained_at", "trained_where", "release_note")
        },
        "training_set": card.get("training_set") if isinstance(card.get("training_set"), dict) else None,
        "scores": _scores(history[-1]) if history else None,
        "evaluations": len(history),
        "size_bytes": place.size_bytes,
        "runs_on": _runs_on(engine, place),
        "licence": None if kind == "linereader-reader" else _words(card.get("base_licence")),
        "licence_note": _words(card.get("base_licence")) if kind == "linereader-reader" else None,
        "may_publish": cards.may_publish(card),
        "location": "both" if ours and everyones else "project" if ours else "global",
    }


def _words(value: Any) -> str | None:
    """Return a value of a card, which a person may have changed, if it is a string at all."""
    return value if isinstance(value, str) else None


def _scores(entry: dict[str, Any]) -> dict[str, Any]:
    pages, cer = entry.get("pages"), entry.get("cer")
    numbers = {
        str(policy): float(rate)
        for policy, rate in (cer.items() if isinstance(cer, dict) else ())
        if isinstance(rate, int | float)
    }
    return {
        "measured_at": _words(entry.get("measured_at")),
        "job_id": _words(entry.get("job_id")),
        "pages": pages if isinstance(pages, int) else None,
        "checked": _words(entry.get("checked")),
        "cer": numbers,
        "map50": entry.get("map50") if isinstance(entry.get("map50"), float) else None,
    }


def _runs_on(engine: Engine, place: Place) -> list[dict[str, Any]]:
    """Return the readers that can use such a file, and whether each can run here."""
    weights = place.weights
    if weights is None:
        return []
    if place.store == DETECTOR_MODELS:
        return [
            {"build": detector.name, "here": engine.runtimes.missing(detector) is None}
            for detector in engine.drivers.usable(DETECTORS)
            if model_type(weights) in detector.model_types
        ]
    return [
        {"build": reader.name, "here": engine.runtimes.missing(reader) is None}
        for reader in installed_readers(engine)
        if reader.model_kind == place.store and weights.name.endswith(reader.model_suffixes)
    ]
