"""Tropy's JSON-LD export."""
