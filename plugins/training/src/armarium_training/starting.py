"""What is checked before a training is enqueued: its base, its trainer, its pages; each refusal says what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy import Connection, select

from armarium.api import (
    ActionContext,
    Engine,
    Library,
    NameOrMaterialPath,
    NotFound,
    ServiceError,
    Use,
    is_among,
    require_job,
)
from armarium_documents.api import documents, pages_under
from armarium_layout.api import DETECTORS, detector_models, model_type
from armarium_reading.api import ModelFile, choose, installed_readers, load_reader, models_folder
from armarium_training import cards, errors
from armarium_training.line_sets import LineSet, line_set
from armarium_training.schemas.training import HereParams, RegionsParams, RemoteParams, TrainArgs
from armarium_training.schemas.vision import VisionParams
from armarium_training.trainers import Trainer, is_here, require_runtime, trainer_of, trainers

A = TypeVar("A", bound=BaseModel)
VISION = "vision"
TIME = re.compile(r"[1-9][0-9]{0,6}[smhd]")


def args_from(args: type[A], params: BaseModel, **more: Any) -> A:
    """Return the arguments of a job: what its action was given, as far as both have it, and *more*."""
    shared = args.model_fields.keys() & type(params).model_fields.keys()
    return args(**{**{name: getattr(params, name) for name in shared}, **more})


def cancel_job(
    ctx: ActionContext, job_id: str, kinds: str | Sequence[str], unknown: Callable[[str], NotFound]
) -> dict[str, Any]:
    """Cancel a job of *kinds*; return its id and state. *unknown* for any other id."""
    require_job(ctx.conn, job_id, kinds, unknown)
    cancelled = ctx.run("job.cancel", {"job_id": job_id})
    ctx.target(job_id)
    return {"job_id": job_id, "state": cancelled["state"]}


def queue_training(
    ctx: ActionContext,
    p: HereParams | RemoteParams | RegionsParams | VisionParams,
    kind: str,
    taught: str,
    trainer: type[Trainer],
    pages: list[str],
    held: list[str],
    *,
    model: str | None = None,
    total: int = 1,
    **more: Any,
) -> str:
    """Enqueue a training on *taught*, which its title names (`12 lines`); return the id of the job. *more* are arguments
    of the job besides what *p* says.
    """
    args = args_from(
        TrainArgs,
        p,
        page_ids=pages,
        held_out_ids=held,
        trainer=trainer.name,
        request=p.model_dump(mode="json"),
        **more,
    )
    title = f"Train {p.display_name or p.name} on {taught}"
    job_id = ctx.enqueue(kind, args.model_dump(mode="json"), title=title, model=model, total=total)
    ctx.target(*p.scope_ids, job_id)
    return job_id


def lines_to_teach(
    ctx: ActionContext, teacher: str, pages: list[str], held: list[str], use: Use = "local-model"
) -> LineSet:
    """Return the lines that a training would use; Invalid if there is none."""
    training_set = line_set(
        ctx.conn, ctx.project, ctx.principal, teacher=teacher, page_ids=pages, held_out_ids=held, use=use
    )
    if not training_set.lines:
        raise errors.nothing_to_teach(teacher)
    return training_set


@dataclass(frozen=True)
class Base:
    """What a training starts from: the trainer, and the base's file (None: shipped with the reader)."""

    trainer: type[Trainer]
    name: str | None
    path: Path | None


def base_of(
    engine: Engine, library: Library, base: NameOrMaterialPath | None, trainer: str | None = None
) -> Base:
    """Return the base called *base* with a trainer of its reader whose runtime is installed. Invalid, Conflict.

    Without a base the trainer is the one named, else the first whose runtime is installed.
    """
    able = [candidate for candidate in _line_trainers(engine) if trainer in (None, candidate.name)]
    found = _find_bases(engine, library, base, able)
    chosen = next((held for held in found if is_here(engine, held.trainer)), found[0])
    require_runtime(engine, chosen.trainer)
    return chosen


def far_base_of(engine: Engine, library: Library, base: NameOrMaterialPath | None) -> Base:
    """As `base_of`, for a training elsewhere: what it needs to run is not required on this machine."""
    able = [trainer for trainer in _line_trainers(engine) if trainer.goes_far]
    return _find_bases(engine, library, base, able)[0]


def _line_trainers(engine: Engine) -> list[type[Trainer]]:
    return [trainer for trainer in trainers(engine) if trainer.card == "linereader"]


def _find_bases(
    engine: Engine, library: Library, base: NameOrMaterialPath | None, able: Sequence[type[Trainer]]
) -> list[Base]:
    """Return *base* with each of the trainers *able* to start from it, one at least."""
    if base is None:
        if not able:
            raise errors.no_trainer("line readers", [trainer.name for trainer in trainers(engine)])
        return [Base(trainer, None, None) for trainer in able]
    found = [held for trainer in able if (held := _find_base(engine, library, trainer, base))]
    if not found:
        raise errors.no_base(str(base), bases_here(engine))
    read_base_card(engine, library, str(base))
    return found


def trainer_wanted(library: Library, base: NameOrMaterialPath | None) -> str | None:
    """Return the trainer of the project's setting `trainer`; a base has its own."""
    return None if base is not None else library.setting("trainer")


def _find_base(
    engine: Engine, library: Library, trainer: type[Trainer], base: NameOrMaterialPath
) -> Base | None:
    """Return the base among the models of the trainer's reader, if it exists."""
    try:
        choice = choose(engine, library, reader=trainer.reader, method="read_lines", model=base)
    except ServiceError as refusal:
        return _waiting(engine, library, trainer, base) if refusal.code == "runtime_missing" else None
    if choice.model_path is not None and not choice.model_path.name.endswith(trainer.suffix):
        return None
    return Base(trainer, str(base), choice.model_path)


def _waiting(
    engine: Engine, library: Library, trainer: type[Trainer], base: NameOrMaterialPath
) -> Base | None:
    """Return an existing base whose reader cannot run yet: then the runtime is refused, not the base."""
    for file in _models_here(engine, trainer.reader, library):
        if base in (file.model, file.label) and file.path and file.path.name.endswith(trainer.suffix):
            return Base(trainer, str(base), file.path)
    return None


def _models_here(engine: Engine, reader_name: str, library: Library | None = None) -> Iterator[ModelFile]:
    """Yield the models of a reader that the project has, and those of this machine."""
    reader = load_reader(engine, reader_name)
    kind = reader.model_kind or reader.name
    for folder in (*([] if library is None else [library.models / kind]), models_folder(engine, kind)):
        yield from reader.models_here(folder, None)


def vision_base_of(engine: Engine, library: Library, base: str) -> Path:
    """Return the config.json of the vision model *base* among the project's models and this machine's; Invalid."""
    here = {file.model: file.path for file in _models_here(engine, VISION, library) if file.path}
    if base not in here:
        raise errors.no_vision_base(base, sorted(here))
    read_base_card(engine, library, base)
    return here[base]


def region_base_of(engine: Engine, library: Library, base: NameOrMaterialPath | None) -> Base | None:
    """Return the layout detector *base* to start from, with a trainer for it; None: from scratch. Invalid."""
    if base is None:
        return None
    trainer = trainer_of(engine, "regions")
    here = detector_models(engine, library)
    path = base.real if Path(base).is_absolute() else here.get(str(base))
    kinds = {kind for detector in engine.drivers.usable(DETECTORS) for kind in detector.model_types}
    if path is None or path.name != trainer.suffix or not path.is_file() or model_type(path) not in kinds:
        raise errors.no_base(str(base), sorted(here))
    read_base_card(engine, library, str(base))
    return Base(trainer, str(base), path)


def read_base_card(engine: Engine, library: Library, base: str) -> dict[str, Any] | None:
    """Return the card of a base that was trained here; None if it was not. Invalid for a damaged card, since it is then
    not known which pages the base has seen.
    """
    place = cards.find_card(engine, library, base)
    if place is None:
        return None
    if place.fault is not None:
        raise errors.base_card_damaged(base)
    return place.card


def held_pages(conn: Connection, ids: Sequence[str]) -> list[str]:
    """Return the pages that *ids* hold out: they themselves, or those below them. A page deleted since is still held
    out.
    """
    live = documents.c.deleted_at.is_(None)
    live_ids = set(conn.execute(select(documents.c.id).where(is_among(documents.c.id, ids), live)).scalars())
    pages = pages_under(conn, [identity for identity in ids if identity in live_ids])
    return list(dict.fromkeys([*pages, *(identity for identity in ids if identity not in live_ids)]))


def bases_here(engine: Engine) -> list[str]:
    """Return the models on this machine that a trainer can start from."""
    able = {trainer.reader for trainer in _line_trainers(engine)}
    here = [reader.name for reader in installed_readers(engine) if reader.name in able]
    return sorted(file.model for reader in here for file in _models_here(engine, reader))


def pages_of(conn: Connection, scope_ids: list[str]) -> list[str]:
    """Return the pages of a scope; Invalid if there are none."""
    pages = pages_under(conn, scope_ids, for_processing=True)
    if not pages:
        raise errors.no_pages()
    return pages


def check_timeout(timeout: str) -> None:
    """Raise Invalid for anything but a number with s, m, h or d."""
    if not TIME.fullmatch(timeout):
        raise errors.bad_timeout(timeout)
