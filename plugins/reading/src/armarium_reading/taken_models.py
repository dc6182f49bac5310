"""Models that consist of several files: offered by name and downloaded, or taken from disk; then checked in a worker and kept
as one file. Whatever is refused leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from armarium.api import Engine, Invalid, JobContext, Limits, ServiceError, Unavailable, open_plain, replacing
from armarium_reading import errors, local_models
from armarium_reading.readers import models_folder, takers_of_models, worker_of, write_note
from armarium_worker import ModelFile, OfferedModel, Reader

Report = Callable[[int, int | None], None]

PINS = "pins.json"
"""Among the engine's models: the digests of downloaded files whose digest nobody stated, by their addresses."""
ROOM = 2
"""A download may be this many times as large as stated; what is larger is not what was offered."""


def offers(engine: Engine) -> Iterator[tuple[type[Reader], OfferedModel]]:
    """Return the published models that readers know by name."""
    for reader in takers_of_models(engine):
        for offer in reader.offers():
            yield reader, offer


def find_offer(reader: type[Reader], model: str) -> OfferedModel | None:
    """Return the model that *reader* offers under this name or DOI."""
    return next((offer for offer in reader.offers() if model in (offer.model, offer.doi)), None)


TOLD = ("title", "doi", "licence", "authors", "page", "reads", "size_bytes")


def list_offers(engine: Engine) -> dict[str, Any]:
    """Return what can be downloaded by name, with what a person is told before; makes no request."""
    pins = _pins(engine)
    items = [
        {
            "model_id": offer.model,
            "model_type": reader.model_kind or reader.name,
            "reader": reader.name,
            **{name: getattr(offer, name) for name in TOLD},
            **{name: list(getattr(offer, name)) for name in ("languages", "scripts", "writing")},
            "cer": offer.cer,
            "is_here": local_models.is_present(engine, reader, offer.model),
            "files": [
                {"name": file.name, "url": file.url, "sha256": file.checksum or pins.get(file.url)}
                for file in offer.files
            ],
        }
        for reader, offer in offers(engine)
    ]
    return {"items": items, "count": len(items)}


def download_offer(
    job: JobContext, reader: type[Reader], offer: OfferedModel, report: Report
) -> dict[str, Any]:
    """Download the files of *offer*, check them and keep them as a model; what arrived is kept for the next attempt if it is
    interrupted, but not if it is cancelled or refused.
    """
    kind = reader.model_kind or reader.name
    existing = local_models.find(job.engine, reader, offer.model)
    if existing is not None:
        return {"model_id": existing.model, "size_bytes": existing.size_bytes}
    folder, pins = _staging(job.engine, kind, offer.model), _pins(job.engine)
    egress = local_models.gate(job.engine)
    limits = Limits(max_bytes=ROOM * offer.size_bytes, seconds=local_models.DOWNLOAD_SECONDS)
    digests: dict[str, str] = {}
    try:
        for file in offer.files:
            digests[file.url] = egress.download(
                file.url,
                folder / file.name,
                sha256=file.checksum or pins.get(file.url),
                limits=limits,
                on_progress=report,
                resume=folder / f".{file.name}.part",
            )
    except ServiceError as refusal:
        if not isinstance(refusal, Unavailable):
            shutil.rmtree(folder, ignore_errors=True)
        if refusal.code == "wrong_file" and file.checksum is None:
            raise errors.not_the_pinned_file(name=file.name, model=offer.model) from refusal
        raise
    finally:
        if job.stop == "cancel":
            shutil.rmtree(folder, ignore_errors=True)
    fields = ("title", "licence", "authors", "page", "languages", "scripts", "writing")
    card = {**offer.card, **{name: getattr(offer, name) for name in fields}}
    (folder / reader.model_parts[-1]).write_text(json.dumps(card, ensure_ascii=False), "utf-8")
    checksums = {file.name: digests[file.url] for file in offer.files}
    note = {"source_id": offer.doi or offer.model, "sha256": checksums, "cer": offer.cer}
    model = _keep(job, reader, folder, offer.model, note)
    _pin(job.engine, {**pins, **digests})
    return {"model_id": model.model, "size_bytes": model.size_bytes, "sha256": checksums}


def add_from_disk(job: JobContext, reader: type[Reader], path: Path, name: str) -> dict[str, Any]:
    """Take in the model at *path*: a folder with its files, or the file that counts, beside which the others are."""
    kind = reader.model_kind or reader.name
    folder = _staging(job.engine, kind, f"add {job.job_id}")
    try:
        digests = {}
        first, *others = reader.model_parts
        source = path / first if path.is_dir() else path
        for part, place in [(first, source), *((other, source.with_name(other)) for other in others)]:
            if part == first or os.path.lexists(place):
                digests[part] = _copy(job.engine, place, folder / part, reader.largest_model)
        model = _keep(job, reader, folder, name, {"sha256": digests})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"model_id": model.model, "size_bytes": model.size_bytes, "sha256": digests}


def name_for(path: Path) -> str:
    """Return the name under which the model at *path* is kept if none is stated: that of its file, or of its folder."""
    model_name = path.parent.name if path.stem in ("inference", "model") else path.stem
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name if path.is_dir() else model_name).strip("-._")[:80]
    return name or "model"


def refuse_taken_name(engine: Engine, reader: type[Reader], name: str) -> None:
    """Raise Conflict if a model of this name is here."""
    if local_models.is_present(engine, reader, name):
        raise errors.model_name_taken(name=name)


def _keep(job: JobContext, reader: type[Reader], folder: Path, name: str, note: dict[str, Any]) -> ModelFile:
    """Have a worker check the files in *folder*, and keep the one file it makes of them under *name*."""
    refuse_taken_name(job.engine, reader, name)
    try:
        answer = job.call_worker(*worker_of(reader), "take_model", {"folder": str(folder)})
    except ServiceError as refusal:
        if refusal.code == "worker_refused":
            shutil.rmtree(folder, ignore_errors=True)
        raise
    file = Path(str(answer.pop("model")))
    place = models_folder(job.engine, reader.model_kind or reader.name) / f"{name}{reader.model_suffixes[0]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    title, page = answer.pop("title", "") or name, answer.pop("page", "")
    write_note(place, {**answer, "title": title, "source_url": page, **note})
    os.replace(file, place)
    shutil.rmtree(folder, ignore_errors=True)
    model = local_models.find(job.engine, reader, name)
    assert model is not None
    return model


def _copy(engine: Engine, source: Path, target: Path, most: int) -> str:
    """Copy a file that a caller named, and return its SHA-256; Invalid for one that is too large or not a plain file."""
    import hashlib

    digest, size = hashlib.sha256(), 0
    try:
        with open_plain(source, engine.paths.is_closed) as file, target.open("xb") as out:
            if os.fstat(file.fileno()).st_size > most:
                raise errors.model_too_large(name=source.name, most=most >> 20)
            while block := file.read(1 << 20):
                size += len(block)
                if size > most:
                    raise errors.model_too_large(name=source.name, most=most >> 20)
                digest.update(block)
                out.write(block)
    except FileNotFoundError:
        raise errors.no_model_file(name=source.name) from None
    except OSError as error:
        raise Invalid(f"{source.name} cannot be copied: {error.strerror}.", code="bad_path") from error
    return digest.hexdigest()


def _staging(engine: Engine, kind: str, model: str) -> Path:
    """Return the folder in which the files of a model are until they were checked."""
    arriving = engine.settings.state_dir / "models" / ".arriving"
    folder = arriving / local_models.partial_of(engine, kind, model).name.strip(".")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _pins(engine: Engine) -> dict[str, str]:
    try:
        pins = json.loads((engine.settings.state_dir / "models" / PINS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(url): str(digest) for url, digest in pins.items()} if isinstance(pins, dict) else {}


def _pin(engine: Engine, pins: dict[str, str]) -> None:
    place = engine.settings.state_dir / "models" / PINS
    with replacing(place) as beside:
        beside.write_text(json.dumps(pins, indent=1), "utf-8")
