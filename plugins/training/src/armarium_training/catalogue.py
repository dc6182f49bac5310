"""The models trained here, as other families see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library
from armarium_training.cards import cards_in, global_folder


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model trained here: its card, its kind, and its weights if they exist."""

    model_id: str
    store: str
    card: dict[str, Any]
    weights: Path | None
    of_project: bool

    @property
    def file_name(self) -> str:
        """Return the name under which a reader is given it."""
        return self.weights.name if self.weights is not None else self.model_id


def trained_models(engine: Engine, library: Library | None) -> Iterator[TrainedModel]:
    """Return the project's models, then this machine's; one whose card cannot be read is left out."""
    for folder in (*((library.models,) if library is not None else ()), global_folder(engine)):
        for place in cards_in(folder):
            if place.fault is None:
                of_project = library is not None and folder == library.models
                yield TrainedModel(place.model_id, place.store, place.card, place.weights, of_project)
