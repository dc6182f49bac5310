"""What other families may use of knowledge: its tables, for counts and for looking up what was found on pages."""

from __future__ import annotations

from armarium_knowledge.models import claim_sources, claims, entities, mentions

__all__ = ["claim_sources", "claims", "entities", "mentions"]
