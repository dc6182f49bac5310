"""POST /api/sandbox/security-scoped-access: the owner opens a folder to the engine (part A 4.1)."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/api/sandbox", tags=["registry"])
