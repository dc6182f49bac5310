"""Trainings on this machine: start, cancel, take in the trained model, copy it to the global store."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Engine, Library, Route, UndoContext, action, refuse_bound
from armarium_documents.api import pages_under
from armarium_training import cards, errors
from armarium_training.model_files import (
    copy_file,
    copy_folder,
    copy_model,
    has_files,
    hide_model,
    remove_model,
)
from armarium_training.models import trained_models
from armarium_training.queries.job_rows import HERE, TRAININGS
from armarium_training.regions import regions_of
from armarium_training.schemas.training import (
    GlobalParams,
    HereParams,
    JobParams,
    Landed,
    LandParams,
    MadeGlobal,
    RegionsParams,
    Started,
    StateOf,
    TrainArgs,
)
from armarium_training.staging import MERGED, staged_card, staged_model, staging
from armarium_training.starting import (
    args_from,
    base_of,
    cancel_job,
    lines_to_teach,
    pages_of,
    region_base_of,
    trainer_wanted,
)
from armarium_training.trainers import trainer_of


@action(
    "training.start_here",
    result=Started,
    summary="Train a line reader on this machine, on lines that were read and corrected.",
    route=Route("POST", "/api/training/linereader/here", refusals=(403, 404, 409)),
    words="Started to train a reader on {scope_ids|pages}",
    undoable=False,
    guards_targets=True,
)
def start_here(ctx: ActionContext, p: HereParams) -> dict[str, Any]:
    """Enqueue a training that sends nothing and costs nothing. Refused without a local base, a trainer, and
    lines to train on.
    """
    pages = pages_of(ctx.conn, p.scope_ids)
    base = base_of(ctx.engine, ctx.project, p.base, trainer_wanted(ctx.project, p.base))
    held_out = pages_under(ctx.conn, p.held_out_ids)
    training_set = lines_to_teach(ctx, p.teacher, pages, held_out)
    args = args_from(
        TrainArgs,
        p,
        page_ids=pages,
        held_out_ids=held_out,
        trainer=base.trainer.name,
        request=p.model_dump(mode="json"),
    )
    lines = f"{len(training_set.lines)} {'line' if len(training_set.lines) == 1 else 'lines'}"
    job_id = ctx.enqueue(
        HERE,
        args.model_dump(mode="json"),
        title=f"Train {p.display_name or p.name} on {lines}",
        model=f"{base.trainer.reader}:{base.name or 'new'}",
        total=p.epochs or 1,
    )
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id}


@action(
    "training.start_regions_here",
    result=Started,
    summary="Train a layout detector on this machine, on regions that people drew or changed.",
    route=Route("POST", "/api/training/regions/here", refusals=(403, 404, 409)),
    words="Started to train a layout detector on {scope_ids|pages}",
    undoable=False,
    guards_targets=True,
)
def start_regions_here(ctx: ActionContext, p: RegionsParams) -> dict[str, Any]:
    """Enqueue the training. Refused below 20 regions on 2 pages, and if no trainer of detectors is installed."""
    pages = pages_of(ctx.conn, p.scope_ids)
    held_out = pages_under(ctx.conn, p.held_out_ids)
    region_set = regions_of(ctx.conn, ctx.project, ctx.principal, pages, held_out, p.classes)
    count = sum(map(len, region_set.regions.values()))
    if count < 20 or len(region_set.regions) < 2:
        raise errors.no_such_regions(count, len(region_set.regions))
    trainer = trainer_of(ctx.engine, "regions")
    region_base_of(ctx.engine, ctx.project, p.base)
    args = args_from(
        TrainArgs,
        p,
        card="regions",
        page_ids=pages,
        held_out_ids=held_out,
        trainer=trainer.name,
        request=p.model_dump(mode="json"),
    )
    title = f"Train {p.display_name or p.name} on {count} regions"
    job_id = ctx.enqueue(HERE, args.model_dump(mode="json"), title=title, total=p.epochs)
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id}


@action(
    "training.cancel",
    result=StateOf,
    summary="Cancel a training; it stops at its next step.",
    route=Route("POST", "/api/training/jobs/{job_id}/cancel", refusals=(404, 409)),
    words="Cancelled a training",
    undoable=False,
)
def cancel(ctx: ActionContext, p: JobParams) -> dict[str, Any]:
    """Cancel the job; one that has ended stays as it is. NotFound for an id that is not a training's."""
    return cancel_job(ctx, p.job_id, TRAININGS, errors.unknown_training)


def _hide_files(undo: UndoContext) -> None:
    """Hide the files of a model when taking it in is undone, and show them again on redo: no training is lost.

    Only after the commit, since the undo may be one of several steps that are refused together.
    """
    library, model = undo.step.project, undo.target_ids[0]
    if undo.redo and not has_files(library.models, model):
        raise errors.files_gone(model)
    undo.step.on_commit(partial(hide_model, library.models, model, shown=undo.redo))


@action(
    "training.land",
    result=Landed,
    summary="Take in the model of a finished training.",
    words="Took in a trained model",
    after_undo=_hide_files,
)
def land(ctx: ActionContext, p: LandParams) -> dict[str, Any]:
    """Move weights and card into the project's models; repeating it changes nothing. Conflict if no training
    is finished.
    """
    known_model = ctx.conn.execute(select(trained_models).where(trained_models.c.job_id == p.job_id)).first()
    if known_model is not None:
        return known_model._asdict()
    folder = staging(ctx.project, p.job_id)
    card, model = staged_card(folder), staged_model(folder)
    if card is None or model is None:
        raise errors.not_finished(p.job_id)
    # Two models may have been taken in under one name since the card was written.
    card["id"] = cards.free_id(ctx.engine, ctx.project, str(card["id"]), p.job_id)
    target = ctx.project.models / str(card["store"])
    name = cards.file_name(str(card["id"]))
    copied = copy_model(model, target, name)
    if card.get("merged_here"):
        copy_folder(folder / MERGED, ctx.project.models / MERGED / name)
    content = {key: value for key, value in card.items() if key != "store"}
    cards.write_card(target / f"{name}{cards.CARD}", content)
    row = {
        **{key: card[key] for key in ("id", "kind", "store")},
        "file": copied.relative_to(target).as_posix(),
        "job_id": p.job_id,
        **ctx.provenance(),
    }
    ctx.conn.execute(trained_models.insert().values(row))
    ctx.target(str(card["id"]))
    return row


def _global_again(undo: UndoContext) -> None:
    """Remove the global copy on undo; make it again on redo, if the project still has the model and no other
    project has made one of that id global meanwhile.
    """
    step, model = undo.step, undo.target_ids[0]
    refuse_bound(step.principal, required="write")
    if undo.redo:
        _copy_global(step.engine, _place_in_project(step.engine, step.project, model))
    else:
        step.on_commit(partial(_remove_global, step.engine, model))


def _remove_global(engine: Engine, model: str) -> None:
    for place in cards.cards_in(cards.global_folder(engine)):
        if place.model_id == model:
            weights = place.weights
            place.path.unlink(missing_ok=True)
            if weights is not None:
                remove_model(weights)


@action(
    "training.make_model_global",
    result=MadeGlobal,
    summary="Copy a trained model and its card to the engine's store, for all projects.",
    route=Route("POST", "/api/training/models/make-global", refusals=(403, 404, 409)),
    words="Made a trained model global",
    after_undo=_global_again,
)
def make_global(ctx: ActionContext, p: GlobalParams) -> dict[str, Any]:
    """Copy the card byte for byte; the project keeps its copy. NotFound, Conflict for an id that already exists there,
    and Forbidden for a token that is bound to some projects: the store is that of all.
    """
    refuse_bound(ctx.principal, required="write")
    place = _place_in_project(ctx.engine, ctx.project, p.model)
    path = _copy_global(ctx.engine, place)
    ctx.target(place.model_id)
    released = cards.may_publish(place.card)
    return {"model_id": place.model_id, "global_path": str(path), "may_publish": released}


def _place_in_project(engine: Engine, library: Library, model: str) -> cards.Place:
    place = cards.find_card(engine, library, model, here=True)
    if place is None or place.weights is None:
        raise errors.not_in_project(model)
    return place


def _copy_global(engine: Engine, place: cards.Place) -> Path:
    """Copy the weights first: a model exists once its card does. Conflict for an id that already exists there."""
    assert place.weights is not None
    folder = cards.global_folder(engine)
    target = folder / place.store
    model_ids = {card.model_id for card in cards.cards_in(folder)}
    if place.model_id in model_ids or (target / place.weights.relative_to(place.path.parent)).exists():
        raise errors.global_already(place.model_id)
    copied = copy_model(place.weights, target, place.path.name.removesuffix(cards.CARD))
    copy_file(place.path, target / place.path.name)
    return copied
