"""The model files on this machine: listing, downloading and removing them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from armarium.api import Conflict, Egress, Engine, JobRow, Limits, NotFound, Unavailable, list_jobs
from armarium_reading import errors
from armarium_reading.readers import (
    NOTE,
    model_note,
    models_folder,
    name_of,
    runtime_folder,
    takers_of_models,
    write_note,
)
from armarium_worker import ModelFile, Reader, Refused, RemoteFile

KNOWN_KINDS = ("linereader", "whisper", "embeddings", "spacy", "mlx", "layout", "tesseract")
"""The runtimes for which a model may be requested; drivers may add more."""

MAX_MODEL_BYTES = 8 << 30
DOWNLOAD_SECONDS = 6 * 3600.0


def gate(engine: Engine) -> Egress:
    """Return the engine's one way to the network."""
    return Egress(local_only=engine.settings.local_only)


def list_models(engine: Engine) -> dict[str, Any]:
    """Return every model and runtime on this machine, and the disk space they use."""
    items: dict[tuple[str, str], dict[str, Any]] = {}
    disk_bytes = 0
    for reader in takers_of_models(engine):
        kind = reader.model_kind or reader.name
        for model in reader.models_here(models_folder(engine, kind), runtime_folder(engine, reader)):
            model_entry = items.get((kind, model.model))
            if model_entry is not None:
                model_entry["metadata"]["readers"].append(reader.name)
                continue
            items[kind, model.model] = _answer(reader, kind, model)
            disk_bytes += (model.size_bytes or 0) if _is_ours(engine, kind, model) else 0
    states = [state.model_dump() for state in engine.runtimes.list()]
    disk_bytes += sum(state["size_bytes"] for state in states)
    return {"items": list(items.values()), "count": len(items), "disk_bytes": disk_bytes, "runtimes": states}


def _answer(reader: type[Reader], kind: str, model: ModelFile) -> dict[str, Any]:
    note = model_note(model.path) if model.path else {}
    return {
        "model_id": model.model,
        "model_type": kind,
        "display_name": note.get("title") or model.label,
        "size_bytes": model.size_bytes,
        "is_downloaded": True,
        "expected_size_mb": None,
        "path": str(model.path) if model.path else None,
        "metadata": {"readers": [reader.name], "shipped": model.shipped, **dict(model.details), **note},
    }


def _is_ours(engine: Engine, kind: str, model: ModelFile) -> bool:
    """Return whether the file is in the engine's own folder: language data of the system is neither counted
    nor removed.
    """
    return model.path is not None and model.path.is_relative_to(models_folder(engine, kind))


def runner_of(engine: Engine, kind: str) -> type[Reader]:
    """Return the reader that uses models of *kind* and can run here; 400 for an unknown kind, 409 without
    such a reader.
    """
    takers = [reader for reader in takers_of_models(engine) if reader.model_kind == kind]
    if not takers:
        kinds = sorted(
            {*KNOWN_KINDS, *(reader.model_kind for reader in takers_of_models(engine) if reader.model_kind)}
        )
        if kind not in kinds:
            raise errors.unknown_kind(kind, kinds)
        raise errors.no_runner(kind, None)
    for reader in takers:
        if reader.runtime is None or runtime_folder(engine, reader) is not None:
            return reader
    raise errors.no_runner(kind, takers[0].runtime.name if takers[0].runtime else None)


def find(engine: Engine, reader: type[Reader], model: str) -> ModelFile | None:
    """Return the model of this name on this machine, or the one that was downloaded under this id."""
    kind = reader.model_kind or reader.name
    for file in reader.models_here(models_folder(engine, kind), runtime_folder(engine, reader)):
        names = {file.model, Path(file.model).stem, file.label}
        if model in names or (file.path is not None and model_note(file.path).get("source_id") == model):
            return file
    return None


def is_present(engine: Engine, reader: type[Reader], model: str) -> bool:
    """Return whether there is nothing to download."""
    return find(engine, reader, model) is not None


class _NetworkAskedError(Exception):
    """A reader would ask the network, so whether the model exists is not known yet."""


def refuse_impossible(reader: type[Reader], model: str) -> None:
    """Raise NotFound for an id the reader knows to name no model, without asking the network."""

    def fetch(url: str) -> bytes:
        raise _NetworkAskedError

    try:
        reader.remote(model, fetch)
    except _NetworkAskedError:
        return
    except Refused as refusal:
        raise NotFound(str(refusal), code="unknown_model") from refusal


def going_download(conn: Connection, kind: str, model: str) -> JobRow | None:
    """Return the job that is already downloading this model."""
    going = list_jobs(conn, kinds="download-model", args={"runtime": kind, "model": model}, limit=1)
    return going[0] if going else None


def partial_of(engine: Engine, kind: str, model: str) -> Path:
    """Return where a partial download is stored until it resumes."""
    import hashlib

    digest = hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return models_folder(engine, kind) / f".{digest}.part"


def download(
    engine: Engine, kind: str, model: str, on_progress: Callable[[int, int | None], None] | None = None
) -> ModelFile:
    """Download a model into the engine's folder; does nothing if it is already there. A partial download is
    kept for the next attempt; only a complete file gets the model's name.

    Raises Unavailable and Conflict with a reason: no answer, a different digest, an id that names no model.
    """
    import hashlib

    reader = runner_of(engine, kind)
    local_model = find(engine, reader, model)
    if local_model is not None:
        return local_model
    egress = gate(engine)
    try:
        remote: RemoteFile = reader.remote(model, lambda url: egress.fetch("GET", url).read())
    except Refused as refusal:
        raise NotFound(str(refusal), code="unknown_model") from refusal
    folder = models_folder(engine, kind)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / remote.name
    if target.name != remote.name or not target.name.endswith(reader.model_suffixes):
        raise Conflict(
            f"The source names a file this reader cannot use: {remote.name[:80]}.", code="wrong_file"
        )
    egress.download(
        remote.url,
        target,
        sha256=remote.checksum if remote.algorithm == "sha256" else None,
        limits=Limits(max_bytes=MAX_MODEL_BYTES, seconds=DOWNLOAD_SECONDS),
        on_progress=on_progress,
        resume=partial_of(engine, kind, model),
    )
    if remote.checksum and remote.algorithm == "md5":
        with target.open("rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
        if digest.hexdigest() != remote.checksum.lower():
            target.unlink()
            raise Unavailable(
                "The file was damaged on the way: its checksum differs. It was discarded; try again."
            )
    note = {"source_id": model, "source_url": remote.page, "title": remote.title, "licence": remote.licence}
    write_note(target, note)
    model_file = find(engine, reader, model)
    assert model_file is not None
    return model_file


def removal(engine: Engine, kind: str, model: str) -> tuple[Callable[[], None], int]:
    """Return what removes a model file, and the bytes that this frees. 400, 404, and 409 for a file in use or
    not managed here.
    """
    takers = [reader for reader in takers_of_models(engine) if (reader.model_kind or reader.name) == kind]
    if not takers:
        raise errors.unknown_kind(
            kind,
            sorted(
                {*KNOWN_KINDS, *(reader.model_kind or reader.name for reader in takers_of_models(engine))}
            ),
        )
    file = find(engine, takers[0], model)
    if file is None:
        here = [
            model.model
            for model in takers[0].models_here(models_folder(engine, kind), runtime_folder(engine, takers[0]))
        ]
        raise errors.no_such_model(model, kind, here)
    if not _is_ours(engine, kind, file) or file.path is None:
        raise errors.shipped_model(model)
    path = file.path
    engine.workers.release_idle()
    names = [f"{reader.name}:{name_of(reader, path)}" for reader in takers]
    if engine.workers.in_use(model=str(path)) or _is_waited_for(engine, names):
        raise errors.in_use(model)
    is_folder = takers[0].model_is_folder

    def remove() -> None:
        if is_folder:
            shutil.rmtree(path.parent, ignore_errors=True)
        path.unlink(missing_ok=True)
        Path(f"{path}{NOTE}").unlink(missing_ok=True)

    return remove, file.size_bytes or 0


def _is_waited_for(engine: Engine, names: list[str]) -> bool:
    """Return whether unfinished work in an open project is to use one of these models, named as jobs name them."""
    for library in engine.libraries.open_now():
        with library.db.read() as conn:
            if list_jobs(conn, models=names, limit=1):
                return True
    return False
