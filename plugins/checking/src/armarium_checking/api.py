"""What other families may use of checking: the contract for a layer of their own, and the verdicts."""

from __future__ import annotations

from armarium_checking.hookspecs import CheckPage, Layer, Opinion, PagePart, Proposal, Target
from armarium_checking.models import verdicts

__all__ = ["CheckPage", "Layer", "Opinion", "PagePart", "Proposal", "Target", "verdicts"]
