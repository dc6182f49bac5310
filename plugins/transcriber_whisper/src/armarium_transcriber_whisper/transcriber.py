"""Whisper as a transcriber of recordings, by faster-whisper.

This module is looked at by the engine and run inside a runtime, where of Armarium only the worker distribution can be
imported; so everything heavy is imported inside methods.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armarium_worker import ModelFile, Refused, Runtime, SpokenLine, Transcriber, Transcript

WHISPER = Runtime(
    name="whisper",
    package="armarium_transcriber_whisper",
    requirements="requirements.txt",
    probe="faster_whisper",
    summary="faster-whisper 1.2 with CTranslate2 and PyAV: writes down speech.",
    size_mb=420,
)

WEIGHTS = "model.bin"
"""The file by which a model's folder is named, in CTranslate2's own format."""


class Whisper(Transcriber):
    """Writes down recordings with a Whisper model of this machine, a line for each segment that it hears."""

    name = "whisper"
    label = "Whisper"
    runtime = WHISPER
    model_kind = "whisper"
    model_suffixes = (WEIGHTS,)
    model_is_folder = True
    reading_needs_model = True

    def load(self) -> None:
        """Import faster-whisper, and load the model of the given `model.bin`'s folder."""
        # Read when huggingface-hub is imported: what is not in the folder is not looked for elsewhere.
        os.environ |= {"HF_HUB_OFFLINE": "1"}
        from faster_whisper import WhisperModel

        if self.model is None:
            raise Refused("A Whisper model is needed to write down speech; name one of this machine.")
        folder = Path(self.model).parent
        device = {"cuda": "cuda", "auto": "auto"}.get(self.device, "cpu")
        try:
            self.network = WhisperModel(
                str(folder),
                device=device,
                compute_type="int8" if device == "cpu" else "default",
                cpu_threads=self.threads,
                local_files_only=True,
            )
        except Exception as error:
            raise Refused(
                f"{folder.name} is no Whisper model that faster-whisper can load ({type(error).__name__}). It takes the "
                "folder of a model in CTranslate2's format: model.bin, config.json, tokenizer.json and the vocabulary."
            ) from error

    def transcribe(self, recording: Path) -> Transcript:
        """Each segment a line; how sure the model is, is the mean share of the tokens it wrote."""
        language = self.language.split("-")[0].casefold() if self.language else None
        try:
            segments, about = self.network.transcribe(
                str(recording), language=language, task="transcribe", vad_filter=True
            )
        except Exception as error:
            raise Refused(
                f"The recording cannot be written down ({type(error).__name__}: {str(error)[:200]}). Import it again from a "
                "good copy, and name a language that the model knows."
            ) from error
        return Transcript(float(about.duration), self._lines(segments))

    @staticmethod
    def _lines(segments: Any) -> Iterator[SpokenLine]:
        for segment in segments:
            yield SpokenLine(
                segment.start, segment.end, segment.text, min(1.0, math.exp(segment.avg_logprob))
            )

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """The folders of models: each by its own name."""
        return ModelFile.in_folders(folder, WEIGHTS)
