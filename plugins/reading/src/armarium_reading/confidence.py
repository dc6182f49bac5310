"""How sure a reader was of what it read, summed up over the lines of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

UNSURE = 0.5
"""Below this a reader is rather wrong than right about a line."""


@dataclass
class Confidence:
    """Sums that a checkpoint keeps; lines without a text or without a confidence do not count."""

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

    def kept(self) -> dict[str, Any]:
        """As a checkpoint keeps it."""
        return asdict(self)

    def told(self) -> dict[str, Any] | None:
        """`{mean, below_half, lines}`, shares from 0 to 1; None where no line says how sure its reader was."""
        if not self.lines:
            return None
        return {
            "mean": round(self.total / self.lines, 4),
            "below_half": round(self.unsure / self.lines, 4),
            "lines": self.lines,
        }
