"""What other families may use of training: what an evaluation would measure, what it wrote on cards, how candidates are
compared, and how a family follows an evaluation.

An evaluation itself is started by the action `evaluation.run`.
"""

from __future__ import annotations

from armarium_training.cards import entry_of_run
from armarium_training.followers import EXTRAS as EVALUATION_FOLLOWERS
from armarium_training.followers import EvaluationFollower
from armarium_training.line_sets import TaughtLine, checked_lines, checksum_of
from armarium_training.measuring import interval, main_policy, paired, paired_bootstrap
from armarium_training.planning import Measurable, is_new_to, kind_of, measurable
from armarium_training.queries.job_rows import EVALUATE
from armarium_training.schemas.evaluation import ALL_POLICIES, Candidate

__all__ = [
    "ALL_POLICIES",
    "EVALUATE",
    "EVALUATION_FOLLOWERS",
    "Candidate",
    "EvaluationFollower",
    "Measurable",
    "TaughtLine",
    "checked_lines",
    "checksum_of",
    "entry_of_run",
    "interval",
    "is_new_to",
    "kind_of",
    "main_policy",
    "measurable",
    "paired",
    "paired_bootstrap",
]
"""What other families may ask of training: the models that were trained here, and the scores that are on cards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library
from armarium_training.cards import cards_in, global_folder
from armarium_training.queries.evaluation import scores_on_cards

__all__ = ["TrainedModel", "scores_on_cards", "trained_models"]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that was trained here: its card, the kind of models it is kept among, and its weights where they are there."""

    model_id: str
    store: str
    card: dict[str, Any]
    weights: Path | None
    of_project: bool

    @property
    def file_name(self) -> str:
        """The name under which a reader is given it."""
        return self.weights.name if self.weights is not None else self.model_id


def trained_models(engine: Engine, library: Library | None) -> Iterator[TrainedModel]:
    """Those of the project first, then those of this machine; one whose card cannot be read is left out."""
    for folder in (*((library.models,) if library is not None else ()), global_folder(engine)):
        for place in cards_in(folder):
            if place.fault is None:
                of_project = library is not None and folder == library.models
                yield TrainedModel(place.model_id, place.store, place.card, place.weights, of_project)
