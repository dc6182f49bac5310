"""The long work of exports: writing those that are kept."""

from __future__ import annotations

from armarium.api import JobKind
from armarium_exports.keeping import JOB, write_kept
from armarium_exports.schemas import KeptJobArgs

WRITE_KEPT = JobKind(
    name=JOB, lane="database", summary="Write a kept export", run=write_kept, args=KeptJobArgs
)
