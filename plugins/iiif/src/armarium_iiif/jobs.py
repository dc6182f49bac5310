"""The jobs of IIIF: fetch and import a manifest; fetch the pictures of canvases. All through the network gate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from armarium.api import (
    JobContext,
    JobKind,
    RetryLater,
    ServiceError,
    image_info,
    name_document,
    new_id,
    note_failed,
    open_image,
)
from armarium_formats.api import scratch
from armarium_iiif.downloads import download_picture, gate
from armarium_iiif.published_collections import MAX_MEMBERS, Member, PublishedCollection, read_collection
from armarium_iiif.publisher import Publisher, PublisherAnswer
from armarium_iiif.queries.references import Reference, folder_of_address, references
from armarium_iiif.schemas import ImagesJobArgs, ManifestJobArgs

PAUSE_SECONDS: Final = 0.2
"""Between two pictures, so that a publisher's server is not pressed."""

MAX_LISTED: Final = 1000
MAX_DEPTH: Final = 20
"""Collections within each other."""
UNREACHABLE_IN_A_ROW: Final = 3
"""So many pictures in a row that a server does not answer for put the job off."""


def run_manifest(ctx: JobContext) -> dict[str, Any]:
    """Fetch and import a manifest, or all manifests of a collection. After a kill, it finds the checkpoint written in the
    import's own step.
    """
    args: ManifestJobArgs = ctx.args
    if "document_id" in ctx.checkpoint:
        return dict(ctx.checkpoint)
    answer = Publisher(gate(ctx.engine), in_bulk=False).fetch(args.url)
    collection = read_collection(answer.data)
    if collection is not None:
        return _Collection(ctx).run(collection)
    outcome = ctx.act(
        "iiif.import", _as_import(answer, args.url, args.parent_id, args.name), checkpoint={}, done=1, total=1
    )
    return dict(outcome.result or {})


def _as_import(answer: PublisherAnswer, url: str, parent_id: str, name: str | None) -> dict[str, Any]:
    # The file name used in refusals: the end of the address, without the query.
    filename = answer.url.partition("?")[0].rstrip("/").rpartition("/")[2][:200] or "manifest"
    return {"file": answer.data, "filename": filename, "url": url, "parent_id": parent_id, "name": name}


class _Collection:
    """All manifests of a collection and of those in it. What is there already is not fetched again, which is how a job that
    was interrupted goes on, and how a repeated import brings only what is new.
    """

    def __init__(self, ctx: JobContext) -> None:
        self.ctx = ctx
        self.publisher = Publisher(gate(ctx.engine), pause=PAUSE_SECONDS)
        self.seen: set[str] = set()
        self.silent = 0
        counts = ("collections", "manifests", "already", "canvases", "left_out", "failed_count")
        self.counts: dict[str, int] = dict.fromkeys(counts, 0)
        self.failed: list[dict[str, str]] = []

    def run(self, first: PublishedCollection) -> dict[str, Any]:
        args: ManifestJobArgs = self.ctx.args
        self.counts["manifests"] = self.ctx.checkpoint.get("manifests", 0)
        self.counts["canvases"] = self.ctx.checkpoint.get("canvases", 0)
        self.resumed = self.counts["manifests"]
        self.seen.add(args.url)
        folder_id = self._folder(args.parent_id, args.url, args.name or first.label)
        self._members(first, folder_id, 1)
        # What an interrupted attempt imported is counted once.
        self.counts["already"] = max(0, self.counts["already"] - self.resumed)
        failures = self.counts["failed_count"]
        members = failures + self.counts["manifests"] + self.counts["already"]
        named = [{"name": failure["address"], "why": failure["why"]} for failure in self.failed]
        note_failed(self.ctx, failures, members, named, "manifest")
        return {"collection_id": folder_id, **self.counts, "failed": self.failed}

    def _members(self, collection: PublishedCollection | None, folder_id: str, depth: int) -> None:
        self.counts["collections"] += 1
        while collection is not None:
            self.counts["left_out"] += collection.left_out
            for member in collection.members:
                self.ctx.check()
                if member.address in self.seen or len(self.seen) >= MAX_MEMBERS or depth > MAX_DEPTH:
                    self.counts["left_out"] += 1
                    continue
                self.seen.add(member.address)
                self._try(self._take, member, folder_id, depth)
            following = collection.next_page
            if following is None or following in self.seen:
                return
            self.seen.add(following)
            answer = self._try(lambda url: self.publisher.fetch(url), following)
            collection = None if answer is None else read_collection(answer.data)

    def _take(self, member: Member, folder_id: str, depth: int) -> None:
        with self.ctx.library.db.read() as conn:
            if not member.is_collection and folder_of_address(conn, folder_id, member.address) is not None:
                self.counts["already"] += 1
                return
        answer = self.publisher.fetch(member.address)
        inner = read_collection(answer.data)
        if inner is not None:
            self._members(inner, self._folder(folder_id, member.address, inner.label), depth + 1)
            return
        params = _as_import(answer, member.address, folder_id, None)
        before = self.ctx.checkpoint

        def more(imported: dict[str, Any]) -> dict[str, Any]:
            return {
                "manifests": before.get("manifests", 0) + 1,
                "canvases": before.get("canvases", 0) + imported["canvases"],
            }

        self.ctx.act("iiif.import", params, checkpoint=more, done=self.counts["manifests"] + 1)
        self.counts["manifests"] = self.ctx.checkpoint["manifests"]
        self.counts["canvases"] = self.ctx.checkpoint["canvases"]

    def _try(self, take: Callable[..., Any], *arguments: Any) -> Any:
        """Return what *take* does; a refusal is reported and stops no other. Several servers that are silent in a row put the
        job off.
        """
        try:
            imported = take(*arguments)
        except ServiceError as refusal:
            address = arguments[0].address if isinstance(arguments[0], Member) else str(arguments[0])
            self.silent = self.silent + 1 if refusal.code == "unreachable" else 0
            if self.silent >= UNREACHABLE_IN_A_ROW:
                raise RetryLater("The publisher's server does not answer.", seconds=300) from None
            self.ctx.log("warning", f"{address}: {refusal.detail}")
            self.counts["failed_count"] += 1
            if len(self.failed) < MAX_LISTED:
                self.failed.append({"address": address, "why": refusal.detail})
            return None
        self.silent = 0
        return imported

    def _folder(self, parent_id: str, address: str, label: str) -> str:
        with self.ctx.library.db.read() as conn:
            existing_id = folder_of_address(conn, parent_id, address)
        if existing_id is not None:
            return existing_id
        node = {
            "id": new_id(), "parent_id": parent_id, "doc_type": "folder", "name": label[:500],
            "metadata": {"source_type": "iiif", "iiif_collection": address},
        }  # fmt: skip
        self.ctx.act("document.add_files", {"nodes": [node]})
        return str(node["id"])


@dataclass
class _Checkpoint:
    """The checkpoint of fetching pictures: how many pages are done, and the results."""

    done: int = 0
    fetched: int = 0
    failures: int = 0
    failed: list[dict[str, str | None]] = field(default_factory=list)

    def fail(self, document_id: str, why: str, name: str | None) -> None:
        self.failures += 1
        if len(self.failed) < MAX_LISTED:
            self.failed.append({"document_id": document_id, "name": name, "why": why})


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
            references_here = references(conn, [document_id])
        if references_here and not references_here[0].has_picture:
            try:
                with scratch(ctx.library) as folder:
                    params = _fetch_picture(ctx, references_here[0], folder / "picture")
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
                checkpoint.fail(document_id, refusal.detail, name_document(ctx, document_id))
        ctx.save(asdict(checkpoint), done=number, total=total)
    if checkpoint.failures == total:
        # A retry asks for all of them again.
        ctx.save({})
    note_failed(ctx, checkpoint.failures, total, checkpoint.failed, "picture")
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
    summary="Fetch a IIIF manifest, or the manifests of a collection, and import them",
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
