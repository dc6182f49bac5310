"""The flags that a person sets on a document, each stated once: its column, what may be sent, searched and typed follow."""

from __future__ import annotations

FLAGS = ("is_read", "is_starred", "is_flagged", "exclude_from_processing")
"""A flag that is added here needs a `Migration` in the plugin, which adds its column to the projects that there are."""
