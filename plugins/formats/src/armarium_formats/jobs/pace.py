"""Chooses how many files the next step of an import takes, so that a step is written in a bounded time."""

from __future__ import annotations

FIRST = 32
"""Files of the first step."""

MOST = 128
"""Files of any step."""

SECONDS = 0.15
"""How long a step may take, about: as long a person's write may have to wait for it."""


class Pace:
    """Steps grow while they are fast, and shrink if pages are large, the disk is slow or people write as
    well.
    """

    def __init__(self, first: int = FIRST) -> None:
        self.files = first

    def note_step(self, files: int, seconds: float) -> None:
        """Record that a step of *files* files took *seconds*, including its wait for the writer."""
        fitting = int(files * SECONDS / max(seconds, 0.001))
        # At most double: these may have been small ones.
        self.files = max(1, min(fitting, 2 * files, MOST))
