"""The body of reading at scale: shards are packed once, sent a few at a time, and written page by page as
each comes back.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.sqlite import insert

from armarium.api import Conflict, JobContext, JobKind, ServiceError, Use
from armarium_documents.api import documents
from armarium_training import errors
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute, FarState
from armarium_training.jobs.ending_elsewhere import end_scale
from armarium_training.models import shards
from armarium_training.packing import folder_of_shards, pack, packed_before
from armarium_training.queries.job_rows import SCALE
from armarium_training.schemas.scale import ScaleArgs, count_shards

MOST_NAMED = 1_000
"""How many skipped pages are named; the log contains all of them."""


class Scale:
    """One run of the job."""

    def __init__(self, job: JobContext) -> None:
        self.job = job
        self.args: ScaleArgs = job.args
        kind: type[Compute] = job.engine.drivers.load(COMPUTE, self.args.place)
        self.compute = kind(job)
        self.kept: dict[str, Any] = {
            "step": "packing",
            "skipped": [],
            "landed": 0,
            "already": 0,
            "unread": 0,
            "set_aside": 0,
            "price_per_hour_usd": kind.price_per_hour_usd(self.args.flavor),
            **job.checkpoint,
        }

    def run(self) -> dict[str, Any]:
        """Work until no shard is pending or submitted; after a kill, nothing that was written is written again."""
        if self.compute.forgets:
            # Work there ended together with the engine that ran it.
            for row in self._rows("submitted", self.args.max_in_flight):
                self._note(row.number, "pending", far_id=None)
        self.kept["step"] = "reading"
        try:
            while self._send() + self._fetch():
                self.job.check()
                self.compute.wait()
        except BaseException:
            if self.job.stop == "cancel":
                submitted = self._rows("submitted", self.args.max_in_flight)
                self.compute.cancel([row.far_id for row in submitted if row.far_id])
                shutil.rmtree(folder_of_shards(self.job.library, self.job.job_id), ignore_errors=True)
            raise
        failed = self._count("failed")
        landing = {name: self.kept[name] for name in ("landed", "already", "unread", "set_aside")}
        if failed:
            raise Conflict(
                f"{failed} of {count_shards(self.args)} shards failed; the results of the others were added. Send "
                "the failed ones again.",
                code="shards_failed",
            )
        shutil.rmtree(folder_of_shards(self.job.library, self.job.job_id), ignore_errors=True)
        return {**landing, "skipped": len(self.kept["skipped"])}

    def _rows(self, state: str, limit: int) -> list[Any]:
        with self.job.library.db.read_all() as conn:
            query = select(shards).where(shards.c.job_id == self.job.job_id, shards.c.state == state)
            return list(conn.execute(query.order_by(shards.c.number).limit(limit)))

    def _count(self, state: str | None) -> int:
        with self.job.library.db.read_all() as conn:
            query = select(func.count()).select_from(shards).where(shards.c.job_id == self.job.job_id)
            return int(
                conn.execute(query if state is None else query.where(shards.c.state == state)).scalar_one()
            )

    def _note(self, number: int, state: str, **values: Any) -> None:
        """Write how a shard stands, with the checkpoint; the row of one that was not begun is made."""
        values = {"state": state, **values}
        begun = {"job_id": self.job.job_id, "number": number, "tries": 0, "last_lines": [], **values}
        statement = insert(shards).values(begun).on_conflict_do_update(set_=values)

        def along(conn: Connection) -> None:
            conn.execute(statement)

        self.job.save(self.kept, along=along)

    def _pages(self, number: int) -> list[str]:
        size = self.args.shard_size
        return self.args.page_ids[number * size : (number + 1) * size]

    def _list_waiting(self, limit: int) -> list[tuple[int, int]]:
        """Return (number, tries) of shards that are to be sent: first those that are sent again. They are begun in order."""
        again = [(row.number, row.tries) for row in self._rows("pending", limit)]
        begun = self._count(None)
        left = range(begun, min(count_shards(self.args), begun + limit - len(again)))
        return [*again, *((number, 0) for number in left)]

    def _send(self) -> int:
        """Send as many as there is room for; return how many shards are under way or still wait."""
        on_their_way = self._count("submitted")
        is_here = self.compute.stays_here(self.args.flavor)
        use: Use = "local-model" if is_here else "cloud-model"
        for number, tries in self._list_waiting(max(0, self.args.max_in_flight - on_their_way)):
            self.job.check()
            if not is_here:
                # The project may have been held to this machine since the job was queued.
                errors.refuse_to_leave(self.job.library, "Reading at scale", pages_may_leave=True)
            packed = pack(self.job, number, self._pages(number), use)
            known = {entry["document_id"] for entry in self.kept["skipped"]}
            new = [entry for entry in packed.skipped if entry["document_id"] not in known]
            if new:
                self.kept = {**self.kept, "skipped": [*self.kept["skipped"], *new][:MOST_NAMED]}
                for page in new:
                    self.job.log("info", page["why"], document_id=page["document_id"])
            if packed.shard is None:
                why = f"None of its pages could be sent. {packed.skipped[0]['why'] if packed.skipped else ''}".rstrip()
                self._note(number, "failed", why=why)
                continue
            try:
                far_id = self.compute.submit(packed.shard, tries + 1)
            except ServiceError as error:
                self._note(number, "failed", why=error.detail, tries=tries + 1)
                continue
            self._note(number, "submitted", far_id=far_id, tries=tries + 1)
        return len(self._list_waiting(1))

    def _fetch(self) -> int:
        """Ask for all sent shards in one call and write those that are done; return how many are still under way."""
        rows = {row.far_id: row for row in self._rows("submitted", self.args.max_in_flight)}
        if not rows:
            return 0
        for far_id, far_state in self.compute.ask(list(rows)).items():
            row = rows.get(far_id)
            if row is None or far_state.state in ("submitted", "queued", "running"):
                continue
            self._take(row, far_state)
        return self._count("submitted")

    def _take(self, row: Any, far_state: FarState) -> None:
        why = far_state.why
        if far_state.state == "done":
            result = far_state.result
            if not isinstance(result, dict) or not isinstance(result.get("pages"), dict):
                why = "Its answer is not a result."
            elif result.get("number") != row.number:
                why = f"It answered for shard {result.get('number')!r}."
            else:
                unread = self._land(row, result["pages"])
                if not unread:
                    self._note(row.number, "landed", why=None)
                    return
                # It is sent again as a whole; pages that have landed are not landed again.
                why = f"{unread} of {len(self._pages(row.number))} pages came back without a result; the others were added."
        lines = [str(last_line)[:500] for last_line in far_state.last_lines][-5:]
        self._note(row.number, "failed", why=why or "It failed without a reason.", last_lines=lines)

    def _land(self, row: Any, results: dict[str, Any]) -> int:
        """Write each page of the shard once; a page that was deleted meanwhile is skipped. Return how many have no
        result.
        """
        packed = packed_before(self.job, row.number) or pack(
            self.job, row.number, self._pages(row.number), "local-model"
        )
        if packed.shard is None:
            return 0
        manifest = packed.shard.manifest
        # The number of its finished pages: a list of them would have to be rewritten with each page.
        begun = (row.number, row.tries)
        done = int(self.kept.get("of_shard", 0)) if tuple(self.kept.get("shard", ())) == begun else 0
        of_shard = self.kept.get("unread_of", {})
        if not done:
            of_shard = {**of_shard, str(row.number): 0}
        self.kept = {**self.kept, "shard": begun, "of_shard": done, "unread_of": of_shard}
        for number, page in enumerate(manifest["pages"][done:], done + 1):
            identity = page["document_id"]
            self.job.check()
            progress = {**self.kept, "of_shard": number}
            result = results.get(identity)
            page = _with_size(page, result)
            lines = _lines(page, result)
            if lines is None:
                of_shard = {
                    **self.kept["unread_of"],
                    str(row.number): self.kept["unread_of"][str(row.number)] + 1,
                }
                self.kept = {**progress, "unread_of": of_shard, "unread": sum(of_shard.values())}
            elif not self._is_live(identity):
                self.kept = {**progress, "set_aside": progress["set_aside"] + 1}
            else:
                self._land_page(page, lines, manifest["model_name"], progress)
                continue
            self.job.save(self.kept)
        unread: int = self.kept["unread_of"][str(row.number)]
        self.kept = {**self.kept, "unread": sum(self.kept["unread_of"].values())}
        return unread

    def _is_live(self, page: str) -> bool:
        with self.job.library.db.read_all() as conn:
            query = select(documents.c.id).where(documents.c.id == page, documents.c.deleted_at.is_(None))
            return conn.execute(query).first() is not None

    def _land_page(
        self, page: dict[str, Any], lines: list[dict[str, Any]], model: str, progress: dict[str, Any]
    ) -> None:
        params = {
            **{key: page[key] for key in ("document_id", "rendition_id", "width", "height")},
            "name": self.args.pass_name or f"Read at scale by {self.args.card}",
            "provider": self.args.driver,
            "model": model,
            "lines": lines,
        }
        spelled = json.dumps([params["model"], lines], ensure_ascii=False, sort_keys=True).encode()
        params["checksum"] = hashlib.sha256(spelled).hexdigest()

        def count_answer(answer: dict[str, Any]) -> dict[str, Any]:
            name = "already" if answer["already"] else "landed"
            return {**progress, name: progress[name] + 1}

        try:
            outcome = self.job.act(
                "training.land_page",
                params,
                checkpoint=count_answer,
                done=min(progress["landed"] + progress["already"] + 1, len(self.args.page_ids)),
            )
        except ServiceError as refusal:
            self.job.log("warning", refusal.detail, document_id=page["document_id"])
            self.kept = {**progress, "set_aside": progress["set_aside"] + 1}
            self.job.save(self.kept)
        else:
            self.kept = count_answer(outcome.result or {})


def _with_size(page: dict[str, Any], result: Any) -> dict[str, Any]:
    """Return the page with the size of its picture, if that was fetched elsewhere and has become known."""
    if "urls" not in page or not isinstance(result, dict):
        return page
    return {**page, **{key: result[key] for key in ("width", "height") if key in result}}


def _lines(page: dict[str, Any], result: Any) -> list[dict[str, Any]] | None:
    """Return the lines of a page's result, ready to be written; None if it was not read or is not a result."""
    if (
        not isinstance(result, dict)
        or "error" in result
        or not (_is_side(page["width"]) and _is_side(page["height"]))
    ):
        return None
    try:
        if page["lines"] is None:
            read = [(line, line["reading"]) for line in result["lines"] if line["kind"] == "line"]
        else:
            read = list(zip(page["lines"], result["readings"], strict=True))
        return [
            {
                **{key: shape[key] for key in ("rect", "polygon", "baseline") if shape.get(key)},
                "text": reading["text"],
                "confidence": reading.get("confidence"),
            }
            for shape, reading in read
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _is_side(pixels: Any) -> bool:
    return isinstance(pixels, int) and 1 <= pixels <= 1_000_000


def read_at_scale(job: JobContext) -> dict[str, Any]:
    """Run the job."""
    scale = Scale(job)
    try:
        return scale.run()
    finally:
        scale.compute.close()


READ_AT_SCALE = JobKind(
    name=SCALE,
    lane="remote",
    also_lanes=("local-model",),
    summary="Read very many pages in shards.",
    run=read_at_scale,
    args=ScaleArgs,
    heavy=True,
    on_cancel=end_scale,
)
