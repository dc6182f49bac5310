"""Writes the episode ledger: one row a call of a model. A failed write never fails the call (A 4.10)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert

from armarium.api import JobContext, new_id, now
from armarium_reading.models import episodes

log = logging.getLogger("armarium.reading")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a call of a model was about and what it gave; `prompt` and `output` are data and never logged."""

    use_case: str
    document_id: str
    provider: str
    model: str
    prompt: str
    output: str
    started_at: str
    seconds: float
    segment_id: str | None = None
    model_version: str | None = None


def record(ctx: JobContext, call: ModelCall) -> str | None:
    """Add the call to the ledger of the job's library; its episode id, or None when it could not be written."""
    episode_id = f"ep_{new_id()}"
    row: dict[str, Any] = {
        "id": episode_id,
        "at": now(),
        "kind": "model_call",
        "use_case": call.use_case,
        "thread_id": ctx.principal.run_id or ctx.job_id,
        "job_id": ctx.job_id,
        "attempt": ctx.attempt,
        "subject_kind": "page",
        "document_id": call.document_id,
        "segment_id": call.segment_id,
        "provider": call.provider,
        "model": call.model,
        "model_version": call.model_version,
        "exchange": {"prompt": call.prompt, "output": call.output},
        "started_at": call.started_at,
        "seconds": call.seconds,
        "cost": {"usd": 0.0},
        "stale_artifact_ids": [],
        "actor": ctx.principal.name,
    }
    try:
        with ctx.library.db.write() as conn:
            conn.execute(insert(episodes).values(row))
    except Exception as error:
        log.warning("an episode of %s was not written: %s", call.use_case, type(error).__name__)
        return None
    return episode_id
