"""What other families add to an evaluation's end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from armarium.api import JobContext

EXTRAS = "evaluation_followers"


class EvaluationFollower(Protocol):
    """What is done when an evaluation has measured: put one into the plugin's `extras["evaluation_followers"]`."""

    def follow_scores(self, job: JobContext, kept: Mapping[str, Any]) -> None:
        """Called in the job after the scores were written on the cards, and again after a kill; what it does must bear that.

        *kept* is the job's checkpoint: `result`, `measured_at`, and `read`, of each candidate of the plan the pages by id
        with `lines` (of each policy [distance, characters] of each line) and `segment_ids`. A refusal fails the job.
        """
