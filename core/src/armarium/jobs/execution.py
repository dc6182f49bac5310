"""Runs one body and reports how it ended."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from armarium.errors import ServiceError, refused_by_disk
from armarium.ids import now, timestamp
from armarium.jobs.body_ends import AfterChildren, CannotGoOn, JobStopped, RetryLater
from armarium.jobs.ending import CANCELLED, GOES_ON, Ending
from armarium.jobs.log import write_lines
from armarium.jobs.store import ClaimedJob, JobStore
from armarium.principals import asking
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.jobs.kinds import JobKind
    from armarium.jobs.runner import JobRunner

log = logging.getLogger("armarium.jobs")


def execute(runner: JobRunner, store: JobStore, picked: ClaimedJob) -> Ending:
    """Run the body of *picked* in this thread, unless it is asked to stop before it begins."""
    claim, kind, context = picked.claim, picked.kind, picked.context
    why = "shutdown" if store.closing else context.stop
    if why is not None:
        return not_begun(picked, why)
    ended = Ending(
        claim.seq, claim.id, "done", claim.attempts + 1, claim.started_at or now(), "", claim.parent_id
    )
    try:
        # A body sees what its starter may see.
        with asking(context.principal):
            context.spending.begin()
            answer = kind.run(context)
        if answer is not None:
            if not isinstance(answer, dict):
                raise TypeError("the result of a job is an object, or None")
            ended.result = json_text(answer)
        ended.reason = context.remark
    except JobStopped as stopped:
        _mark_stopped(ended, stopped.why)
    except AfterChildren:
        ended.reason_code = GOES_ON
    except RetryLater as later:
        if context.own_done > claim.own_done:
            # It came further: only tries without any progress count, however many pages it has.
            ended.attempts = 1
        if ended.attempts >= kind.retries:
            tried = f"{later.reason} Tried {ended.attempts} times; retry it when that has changed."
            ended.become("failed", tried, later.code)
        else:
            ended.become("waiting", later.reason, later.code)
            ended.not_before = timestamp(datetime.now(UTC) + timedelta(seconds=later.seconds))
    except CannotGoOn as stopped:
        ended.become("failed", stopped.reason, stopped.code)
    except ServiceError as refusal:
        ended.become("failed", refusal.detail, refusal.code or "refused")
    except MemoryError:
        why = "There was not enough memory for this; close other programs or choose a smaller model."
        ended.become("failed", why, "memory")
    except BaseException as error:
        if (by_disk := refused_by_disk(error)) is not None:
            ended.become("failed", by_disk.detail, by_disk.code)
        else:
            _note_unexpected(runner, kind, ended, error)
    finally:
        context.spending.end()
    ended.finished_at = now()
    if ended.state == "failed":
        _note_failure(store, ended)
    return ended


def _note_unexpected(runner: JobRunner, kind: JobKind, ended: Ending, error: BaseException) -> None:
    # Neither the message of the error nor its values: they may contain words of the source.
    frames = traceback.extract_tb(error.__traceback__)
    stack = "\n".join(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
    log.error("a job of kind %s failed with %s\n%s", kind.name, type(error).__name__, stack)
    whose, spot = runner.engine.plugins.note_error(f"The work {kind.name}", error, kind.run)
    why = (
        f"The work {kind.name} failed with an unexpected error inside {whose} ({spot}). Retry it; if it fails "
        "again, report it with this message."
    )
    ended.become("failed", why, "error")


def not_begun(picked: ClaimedJob, why: str = "aside") -> Ending:
    """Return the end of a job that was picked up and is not run now: it waits again, or is cancelled."""
    claim, at = picked.claim, now()
    ended = Ending(claim.seq, claim.id, "done", claim.attempts, claim.started_at, at, claim.parent_id)
    _mark_stopped(ended, picked.context.stop or why)
    return ended


def _mark_stopped(ended: Ending, why: str) -> None:
    ended.become(*CANCELLED if why == "cancel" else ("waiting",))


def _note_failure(store: JobStore, ended: Ending) -> None:
    try:
        with store.db.write() as conn:
            write_lines(conn, [(ended.id, "error", ended.reason or "", {"code": ended.reason_code})])
    except Exception:
        log.warning("the failure of job %s could not be added to its log", ended.id)
