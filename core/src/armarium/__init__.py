"""Armarium: the local library engine for archival documents; the public names live in `armarium.api`."""

__version__ = "0.2.0"
