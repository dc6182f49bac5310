"""The transcriber of the examples: it needs no model, and returns the same sentence for every recording."""

from __future__ import annotations

from pathlib import Path

from armarium_worker import SpokenLine, Transcriber, Transcript


class SampleTranscriber(Transcriber):
    """Says of every recording that it lasts a second and contains a greeting."""

    name = "sample"
    label = "Sample"

    def transcribe(self, recording: Path) -> Transcript:
        """Return one line."""
        return Transcript(1.0, [SpokenLine(0.0, 1.0, "Good day.")])
