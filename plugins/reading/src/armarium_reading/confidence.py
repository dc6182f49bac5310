"""How confident a reader was in what it read, summed over the lines of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

UNSURE = 0.5
"""Below this, a reader is more likely wrong than right about a line."""

SURE = 0.95
"""Readers of print reach this mean on printed pages but not on handwriting, however confident their nonsense
is: measured, RapidOCR gave 0.94 to 0.99 on print and 0.64 to 0.92 on handwriting.
"""


@dataclass
class Confidence:
    """Sums that go into a checkpoint; lines without text or without a confidence do not count."""

    lines: int = 0
    unsure: int = 0
    total: float = 0.0

    def add(self, readings: Iterable[Mapping[str, Any]]) -> None:
        """Count *readings*, {text, confidence?} each."""
        for reading in readings:
            confidence = reading.get("confidence")
            if reading["text"] and confidence is not None:
                self.lines += 1
                self.unsure += confidence < UNSURE
                self.total += confidence

    @property
    def is_sure(self) -> bool:
        """Return whether the mean is as high as on the material the reader is made for."""
        return bool(self.lines) and self.total / self.lines >= SURE

    def as_checkpoint(self) -> dict[str, Any]:
        """Return the sums as a checkpoint stores them."""
        return asdict(self)

    def as_answer(self) -> dict[str, Any] | None:
        """Return `{mean, below_half, lines}`, shares from 0 to 1; None if no line has a confidence."""
        if not self.lines:
            return None
        return {
            "mean": round(self.total / self.lines, 4),
            "below_half": round(self.unsure / self.lines, 4),
            "lines": self.lines,
        }
