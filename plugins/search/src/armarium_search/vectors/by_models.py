"""Embedders with a model of this machine: it runs in a worker process, in the runtime that its driver names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.api import Engine, JobContext, Library, NameOrMaterialPath, find_withheld
from armarium_reading.api import Choice, settle_choice
from armarium_search.errors import name_without_folders
from armarium_search.vectors.embedders import normalise_rows
from armarium_worker import PassageEmbedder

if TYPE_CHECKING:
    from armarium_search.vectors.embedders import Vectors

AT_ONCE = 64
"""Passages of one call."""
QUERY_SECONDS = 60.0
"""The longest that whoever searches waits for the vector of a query; the first one waits for the model to be loaded."""


def runs_a_model(driver: Any) -> bool:
    """Whether an embedder runs a model in a worker process."""
    return isinstance(driver, type) and issubclass(driver, PassageEmbedder)


def choose_model(
    engine: Engine, library: Library, driver: type[PassageEmbedder], model: str | None
) -> Choice:
    """Choose the model on this machine; refusals say which there are, and which runtime is missing."""
    if model is not None and Path(model).name != model:
        raise name_without_folders(model)
    return settle_choice(
        engine, library, driver, "embed", None if model is None else NameOrMaterialPath(model), None
    )


@dataclass(frozen=True)
class ModelVectors:
    """Pages of one job, given to a model of this machine."""

    job: JobContext
    choice: Choice

    def find_allowed(self, ids: Sequence[str]) -> set[str]:
        """Return those of the pages *ids* that the model may see."""
        return set(ids) - set(find_withheld(self.job.library, self.job.principal, ids, "local-model"))

    def embed(self, _ids: Sequence[str], passages: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each passage."""
        import numpy as np

        rows: list[list[float]] = []
        for at in range(0, len(passages), AT_ONCE):
            self.job.check()
            params = _params(self.choice, passages[at : at + AT_ONCE])
            rows += self.job.call_worker(self.choice.runtime, self.choice.target, "embed", params)["vectors"]
        return normalise_rows(np.array(rows, dtype=np.float32))


def embed_with_model(engine: Engine, choice: Choice, query: str) -> list[float]:
    """Compute the vector of a query without waiting for pages that are being read. Unavailable if the model cannot run."""
    params = _params(choice, [query])
    answer = engine.workers.call(
        choice.runtime, choice.target, "embed", params, heavy=False, timeout=QUERY_SECONDS
    )
    vector: list[float] = answer["vectors"][0]
    return vector


def _params(choice: Choice, passages: Sequence[str]) -> dict[str, Any]:
    return {
        "model": str(choice.model_path) if choice.model_path else None,
        "language": None,
        "passages": list(passages),
    }
