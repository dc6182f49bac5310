"""What other families add at the end of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from armarium.api import JobContext

EXTRAS = "evaluation_followers"


class EvaluationFollower(Protocol):
    """Called when an evaluation has measured: put one into the plugin's `extras["evaluation_followers"]`."""

    def follow_scores(self, job: JobContext, kept: Mapping[str, Any]) -> None:
        """Called in the job after the scores were written to the cards, and again after a kill, so it must be
        idempotent.

        *kept* is the job's checkpoint: `result`, `measured_at`, and `read`: for each candidate, pages by id
        with `lines` (for each policy, [distance, characters] of each line) and `segment_ids`. A refusal fails
        the job.
        """
