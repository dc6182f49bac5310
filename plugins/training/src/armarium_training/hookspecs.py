"""The extension point of training: what follows an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import JobContext, hookspec


@hookspec
def armarium_training_evaluated(job: JobContext, kept: Mapping[str, Any]) -> None:
    """Receive the scores of an evaluation.

    Called in the job after the scores were written to the cards, and again after a kill, so it must be idempotent. *kept* is
    the job's checkpoint: `result`, `measured_at`, and `read`: for each candidate, pages by id with `lines` (for each policy,
    [distance, characters] of each line) and `segment_ids`. A refusal fails the job.
    """
