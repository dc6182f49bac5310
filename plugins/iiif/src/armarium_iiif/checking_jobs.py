"""The job that asks whether imported manifests changed where they are published, and takes what did if that was asked for."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from typing import Any

from sqlalchemy import Connection, delete

from armarium.api import JobContext, JobKind, ServiceError, name_document, note_failed, now
from armarium_iiif import downloads, jobs
from armarium_iiif.models import remotes
from armarium_iiif.publisher import Publisher
from armarium_iiif.queries.remotes import Remote, remotes_of
from armarium_iiif.schemas import ChecksJobArgs


def run_checks(ctx: JobContext) -> dict[str, Any]:
    """Ask one after the other. A failure is reported in the result and stops no other."""
    args: ChecksJobArgs = ctx.args
    progress: dict[str, Any] = deepcopy(ctx.checkpoint) or {
        "done": 0,
        "changed": [],
        "taken": 0,
        "failed": [],
    }
    publisher = Publisher(downloads.gate(ctx.engine), pause=jobs.PAUSE_SECONDS)
    total = len(args.document_ids)
    for number, document_id in enumerate(args.document_ids[progress["done"] :], progress["done"] + 1):
        ctx.check()
        with ctx.library.db.read() as conn:
            remotes_here = remotes_of(conn, [document_id])
        progress["done"] = number
        try:
            for remote in remotes_here:
                _ask(ctx, publisher, remote, progress, take=args.take)
        except ServiceError as refusal:
            ctx.log("warning", f"{document_id}: {refusal.detail}")
            failure = {
                "document_id": document_id,
                "name": name_document(ctx, document_id),
                "why": refusal.detail,
            }
            progress["failed"] = [*progress["failed"], failure][: jobs.MAX_LISTED]
        ctx.save(progress, done=number, total=total)
    failed = progress["failed"]
    if len(failed) == total:
        # A retry asks after all of them again.
        ctx.save({})
    note_failed(ctx, len(failed), total, failed, "manifest")
    return {"asked": total, **{name: progress[name] for name in ("changed", "taken", "failed")}}


def _ask(
    ctx: JobContext, publisher: Publisher, remote: Remote, progress: dict[str, Any], *, take: bool
) -> None:
    # What is known to differ is asked for whole where it is to be taken.
    validators = {"if-none-match": remote.etag, "if-modified-since": remote.last_modified}
    headers_sent = {name: value for name, value in validators.items() if value}
    answer = publisher.fetch(remote.url, None if take and remote.digest != remote.original else headers_sent)
    digest = remote.digest or remote.original
    if answer.status == 200:
        digest = hashlib.sha256(answer.data).hexdigest()
        fields = {
            "document_id": remote.document_id,
            "digest": digest,
            "etag": answer.headers.get("etag"),
            "last_modified": answer.headers.get("last-modified"),
        }

        def note(conn: Connection) -> None:
            conn.execute(delete(remotes).where(remotes.c.document_id == remote.document_id))
            conn.execute(remotes.insert().values(**fields, checked_at=now()))

        ctx.save(ctx.checkpoint, along=note)
    if digest == remote.original:
        return
    if take:
        ctx.act("iiif.update", {"document_id": remote.document_id, "file": answer.data})
        progress["taken"] += 1
    else:
        progress["changed"] = [*progress["changed"], remote.document_id][: jobs.MAX_LISTED]


checks_job = JobKind(
    name="iiif-check",
    lane="network",
    summary="Ask whether imported IIIF manifests changed",
    run=run_checks,
    args=ChecksJobArgs,
    needs_network=True,
)
