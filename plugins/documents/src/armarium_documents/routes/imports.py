"""Start an import over HTTP; the job is followed at /api/activity/jobs."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["documents"])
