"""What other families may use of knowledge: its tables, to count and to look up what was found on pages."""

from __future__ import annotations

from armarium_knowledge.models import claim_sources, claims, entities, mentions

__all__ = ["claim_sources", "claims", "entities", "mentions"]
