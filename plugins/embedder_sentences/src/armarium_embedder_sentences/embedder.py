"""Vectors of passages by models of the sentence-transformers library.

This module is looked at by the engine and run inside a runtime, where of Armarium only the worker distribution can be
imported; so everything heavy is imported inside methods.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from armarium_worker import ModelFile, PassageEmbedder, Refused, Runtime

SENTENCES = Runtime(
    name="sentences",
    package="armarium_embedder_sentences",
    requirements="requirements.txt",
    probe="sentence_transformers",
    summary="sentence-transformers 6 with PyTorch 2.13: gives passages vectors by their meaning.",
    size_mb=1100,
)

MODULES = "modules.json"
"""The file by which the folder of such a model is known: it lists the parts of the model."""


class SentenceTransformers(PassageEmbedder):
    """Gives passages vectors with a sentence-transformers model of this machine, whose weights are safetensors."""

    name = "sentence-transformers"
    label = "sentence-transformers"
    runtime = SENTENCES
    model_kind = "sentences"
    model_suffixes = (MODULES,)
    model_is_folder = True
    reading_needs_model = True

    def load(self) -> None:
        """Import the library, and load the model of the given `modules.json`'s folder."""
        # Read when huggingface-hub is imported: what is not in the folder is not looked for elsewhere.
        os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        import torch
        from sentence_transformers import SentenceTransformer

        if self.model is None:
            raise Refused("A model is needed to turn passages into vectors; name one on this machine.")
        folder = Path(self.model).parent
        torch.set_num_threads(self.threads)
        with_cuda = self.device in ("cuda", "auto") and torch.cuda.is_available()
        try:
            self.network = SentenceTransformer(
                str(folder),
                device="cuda" if with_cuda else "cpu",
                local_files_only=True,
                # No model may run code of its own: neither modules of its maker nor pickled weights.
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:
            raise Refused(
                f"{folder.name} is not a model that sentence-transformers can load ({type(error).__name__}). It takes the "
                "folder of a model: modules.json, the configuration, the tokenizer, and weights as model.safetensors."
            ) from error

    def embed(self, passages: Sequence[str]) -> Iterable[Sequence[float]]:
        """Vectors of length 1; of a passage longer than the model takes, of its beginning."""
        rows: list[list[float]] = self.network.encode(
            list(passages), batch_size=32, normalize_embeddings=True, show_progress_bar=False
        ).tolist()
        return rows

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """The folders of models: each by its own name."""
        return ModelFile.in_folders(folder, MODULES)

    @classmethod
    def model_for(cls, *, reading: bool, language: str | None, folder: Path) -> Path | None:
        """The only model of this machine; Refused where there are several, or none."""
        here = cls.models_here(folder, None)
        return (
            here[0].path
            if len(here) == 1
            else super().model_for(reading=reading, language=language, folder=folder)
        )
