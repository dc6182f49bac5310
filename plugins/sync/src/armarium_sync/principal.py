"""The principal of the work on synced folders: a machine of the engine's own, bound by locks and rights."""

from __future__ import annotations

from armarium.api import Principal

KEEPER = Principal("machine", "synced folders", "editor", folders=None)
"""It names what comes in from a folder and what moves there; what may be written is the same for everybody."""
