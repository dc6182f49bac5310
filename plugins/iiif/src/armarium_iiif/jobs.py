"""The jobs of IIIF: fetch and import a manifest; fetch the pictures of canvases. All through the network gate."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from armarium.api import (
    JobContext,
    JobKind,
    Limits,
    RetryLater,
    ServiceError,
    Unavailable,
    image_info,
    open_image,
)
from armarium_formats.api import scratch
from armarium_iiif.downloads import SECONDS, download_picture, gate
from armarium_iiif.manifest_reader import MAX_BYTES
from armarium_iiif.queries.references import Reference, references
from armarium_iiif.schemas import ImagesJobArgs, ManifestJobArgs

PAUSE_SECONDS: Final = 0.2
"""Between two pictures, so that a publisher's server is not pressed."""

MAX_LISTED: Final = 1000
UNREACHABLE_IN_A_ROW: Final = 3
"""So many pictures in a row that a server does not answer for put the job off."""


def run_manifest(ctx: JobContext) -> dict[str, Any]:
    """Fetch and import. After a kill, it finds the checkpoint written in the import's own step."""
    args: ManifestJobArgs = ctx.args
    if "document_id" in ctx.checkpoint:
        return dict(ctx.checkpoint)
    answer = gate(ctx.engine).fetch(
        "GET",
        args.url,
        headers={
            "accept": 'application/ld+json;profile="http://iiif.io/api/presentation/3/context.json",'
            "application/json;q=0.9,*/*;q=0.5"
        },
        limits=Limits(max_bytes=MAX_BYTES, seconds=SECONDS),
    )
    if answer.status != 200:
        raise Unavailable(
            f"The server answers {answer.status} where the manifest was expected; check the address.",
            code="not_the_manifest",
        )
    # The file name used in refusals: the end of the address, without the query.
    filename = answer.url.partition("?")[0].rstrip("/").rpartition("/")[2][:200] or "manifest"
    params = {
        "file": answer.read(),
        "filename": filename,
        "url": args.url,
        "parent_id": args.parent_id,
        "name": args.name,
    }
    outcome = ctx.act("iiif.import", params, checkpoint={}, done=1, total=1)
    return dict(outcome.result or {})


@dataclass
class _Checkpoint:
    """The checkpoint of fetching pictures: how many pages are done, and the results."""

    done: int = 0
    fetched: int = 0
    failures: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)

    def fail(self, document_id: str, why: str) -> None:
        self.failures += 1
        if len(self.failed) < MAX_LISTED:
            self.failed.append({"document_id": document_id, "why": why})


def run_images(ctx: JobContext) -> dict[str, Any]:
    """Fetch missing pictures, one per step. A failure is reported in the result and stops no other."""
    args: ImagesJobArgs = ctx.args
    total = len(args.document_ids)
    checkpoint = _Checkpoint(**ctx.checkpoint)
    answered, silent = asdict(checkpoint), 0
    for number, document_id in enumerate(args.document_ids[checkpoint.done :], checkpoint.done + 1):
        ctx.check()
        before = asdict(checkpoint)
        checkpoint.done = number
        with ctx.library.db.read() as conn:
            found = references(conn, [document_id])
        if found and not found[0].has_picture:
            try:
                with scratch(ctx.library) as folder:
                    params = _fetch_picture(ctx, found[0], folder / "picture")
                    checkpoint.fetched += 1
                    ctx.act(
                        "iiif.attach_image", params, checkpoint=asdict(checkpoint), done=number, total=total
                    )
                silent = 0
                time.sleep(PAUSE_SECONDS)
                continue
            except ServiceError as refusal:
                checkpoint = _Checkpoint(**{**before, "done": number})
                answered = before if silent == 0 else answered
                silent = silent + 1 if refusal.code == "unreachable" else 0
                if silent >= UNREACHABLE_IN_A_ROW:
                    # Those before it went unanswered for the same reason: they are requested again with it.
                    ctx.save(answered, done=answered["done"], total=total)
                    raise RetryLater("The picture server does not answer.", seconds=300) from None
                ctx.log("warning", f"{document_id}: {refusal.detail}")
                checkpoint.fail(document_id, refusal.detail)
        ctx.save(asdict(checkpoint), done=number, total=total)
    return {"fetched": checkpoint.fetched, "failed": checkpoint.failed, "failed_count": checkpoint.failures}


def _fetch_picture(ctx: JobContext, page: Reference, target: Path) -> dict[str, Any]:
    """Fetch a page's picture and look it through; the parameters of the step that attaches it."""
    address = download_picture(ctx.engine, page, target)
    limit = ctx.engine.settings.max_image_pixels
    info = image_info(target, max_pixels=limit, name="The picture")
    side = 1024
    # Decoded once here, so that a damaged file is refused now and not when it is first shown.
    image = open_image(target, max_pixels=limit, shrink_to=(side, side), name="The picture")
    width, height = image.size if info.format == "TIFF" else info.upright_size
    return {
        "document_id": page.document_id,
        "checksum": ctx.library.objects.put_file(target),
        "mime_type": info.mime_type,
        "size_bytes": target.stat().st_size,
        "pixel_width": width,
        "pixel_height": height,
        "exif_orientation": 1 if info.format == "TIFF" else info.orientation,
        "source_url": address,
    }


manifest_job = JobKind(
    name="iiif-manifest",
    lane="network",
    summary="Fetch a IIIF manifest and import it",
    run=run_manifest,
    args=ManifestJobArgs,
    needs_network=True,
)

images_job = JobKind(
    name="iiif-images",
    history="pictures",
    lane="network",
    summary="Fetch the pictures of imported canvases",
    run=run_images,
    args=ImagesJobArgs,
    needs_network=True,
)
