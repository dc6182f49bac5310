"""What other families may use of knowledge: its tables, for counts and for looking up what was found on pages."""

from armarium_knowledge.records.claims import claim_sources as claim_sources
from armarium_knowledge.records.claims import claims as claims
from armarium_knowledge.records.entities import entities as entities
from armarium_knowledge.records.mentions import mentions as mentions
