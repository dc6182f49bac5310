"""Who the work on synced folders is done as: a machine of the engine's own, which heeds locks and rights."""

from __future__ import annotations

from armarium.api import Principal

KEEPER = Principal("machine", "synced folders", "editor", folders=None)
"""Names what comes in from a folder, and what moves there; what may go out is the same for everybody."""
