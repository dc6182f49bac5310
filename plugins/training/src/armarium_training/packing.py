"""Packs the shards of a reading at scale: pictures of limited size and a manifest, the same bytes however
often packed.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.api import JobContext, Library, NameOrMaterialPath, ServiceError, Use, find_withheld, open_image
from armarium_documents.api import page_image, still_image
from armarium_iiif.api import Reference, download_picture, public_addresses, reference_of
from armarium_reading.api import choose, lines_of, load_reader
from armarium_source_model.api import reading_rule, working_pass
from armarium_training.compute import Shard
from armarium_training.schemas.scale import ScaleArgs
from armarium_training.whole_files import write_whole

if TYPE_CHECKING:
    from PIL import Image

MANIFEST = "manifest.json"
QUALITY = 90
"""The quality of the JPEGs that are sent."""


@dataclass
class PackedShard:
    """A shard, or None if no page of it could be packed; and the pages that were not, with the reasons."""

    shard: Shard | None
    skipped: list[dict[str, str]] = field(default_factory=list)

    @property
    def pages(self) -> list[dict[str, Any]]:
        """Return its pages."""
        return [] if self.shard is None else list(self.shard.manifest["pages"])


def folder_of_shards(library: Library, job_id: str) -> Path:
    """Return where the shards of a job are stored until it has ended."""
    return library.derived_folder / "scale" / job_id


def shard_folder(job: JobContext, number: int) -> Path:
    """Return where a shard is stored until its job has ended."""
    return folder_of_shards(job.library, job.job_id) / str(number)


def packed_before(job: JobContext, number: int) -> PackedShard | None:
    """Return a shard as it was packed, whatever has changed since; None if it was not, or is no longer there."""
    folder = shard_folder(job, number)
    if not (folder / MANIFEST).is_file():
        return None
    manifest = json.loads((folder / MANIFEST).read_bytes())
    shard = Shard(number, folder, manifest) if manifest["pages"] else None
    return PackedShard(shard, manifest["skipped"])


def pack(job: JobContext, number: int, page_ids: Sequence[str], use: Use) -> PackedShard:
    """Pack the pages of a shard; one packed before is used as it is. Pages that may not be put to *use* are
    skipped, also those that were packed when they still might.
    """
    folder = shard_folder(job, number)
    kept_back = find_withheld(job.library, job.principal, page_ids, use)
    before = packed_before(job, number)
    if before is not None and not any(page["document_id"] in kept_back for page in before.pages):
        return before
    shutil.rmtree(folder, ignore_errors=True)
    args: ScaleArgs = job.args
    reader = load_reader(job.engine, args.driver)
    pages: list[dict[str, Any]] = []
    skipped: list[dict[str, str]] = []
    for page in page_ids:
        job.check()
        try:
            if page in kept_back:
                skipped.append({"document_id": page, "why": kept_back[page]})
                continue
            entry = _page(job, page, folder, "read_page" in reader.can, is_here=use == "local-model")
        except ServiceError as error:
            skipped.append({"document_id": page, "why": error.detail})
            continue
        if entry is None:
            skipped.append({"document_id": page, "why": f"It has no lines, and {reader.label} finds none."})
        else:
            pages.append(entry)
    card_name = None if args.card == args.driver else args.card
    choice = choose(
        job.engine,
        job.library,
        reader=args.driver,
        method="read_page" if "read_page" in reader.can else "read_lines",
        model=None if card_name is None else NameOrMaterialPath(card_name),
        language=args.language,
    )
    manifest = {
        "number": number,
        "driver": args.driver,
        "model": str(choice.model_path) if choice.model_path else None,
        "model_name": choice.model_name,
        "language": args.language,
        "pages": pages,
        "skipped": skipped,
    }
    write_whole(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, sort_keys=True).encode())
    return PackedShard(Shard(number, folder, manifest) if pages else None, skipped)


def _page(job: JobContext, page: str, folder: Path, finds: bool, *, is_here: bool) -> dict[str, Any] | None:
    """Return a page's picture, no larger than requested, and its lines if the reader finds none itself.

    The picture of a canvas imported by reference is fetched where it is read: now if that is here, otherwise
    by the worker there.
    """
    args: ScaleArgs = job.args
    with job.library.db.read_all() as conn:
        canvas = reference_of(conn, page)
        if canvas is not None and not canvas.has_picture:
            return _pack_reference(job, canvas, folder, is_here=is_here) if finds else None
        picture = page_image(job.library, conn, page)
        scale = min(1.0, args.longest / max(picture.width, picture.height))
        width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
        ids: list[str] = []
        shapes: list[dict[str, Any]] = []
        if not finds:
            pass_id = working_pass(conn, page, reading_rule(conn))[0]
            if pass_id is not None:
                ids, shapes = lines_of(conn, pass_id, width, height)
            if not ids:
                return None
    with still_image(job.library, picture) as path:
        image = open_image(path, max_pixels=job.engine.settings.max_image_pixels).convert("RGB")
    return {
        "document_id": page,
        **_pack_picture(image, (width, height), folder),
        "rendition_id": picture.rendition_id,
        "lines": None if finds else shapes,
    }


def _pack_picture(image: Image.Image, size: tuple[int, int], folder: Path) -> dict[str, Any]:
    if image.size != size:
        image = image.resize(size)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    data = file.getvalue()
    name = f"{hashlib.sha256(data).hexdigest()[:32]}.jpg"
    write_whole(folder / name, data)
    return {"file": name, "width": size[0], "height": size[1]}


def _pack_reference(job: JobContext, canvas: Reference, folder: Path, *, is_here: bool) -> dict[str, Any]:
    """Return a canvas whose picture another institution publishes; its size is known once it has been fetched."""
    args: ScaleArgs = job.args
    entry: dict[str, Any] = {"document_id": canvas.document_id, "rendition_id": None, "lines": None}
    if not is_here:
        name = f"{canvas.document_id}.picture"
        return {**entry, "file": name, "urls": public_addresses(job.engine, canvas), "width": 0, "height": 0}
    # In the shard's folder, which is removed with its job, or before it is packed again after a kill.
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{canvas.document_id}.part"
    try:
        download_picture(job.engine, canvas, target)
        image = open_image(target, max_pixels=job.engine.settings.max_image_pixels).convert("RGB")
    finally:
        target.unlink(missing_ok=True)
    scale = min(1.0, args.longest / max(image.size))
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return {**entry, **_pack_picture(image, size, folder)}
