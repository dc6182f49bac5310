"""Entities, mentions, claims, interpretations, and what a correction puts in doubt."""
