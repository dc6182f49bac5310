"""What other families may use of training: the models trained here, the plan of an evaluation and its entries
on cards, how candidates are compared, and how a family follows an evaluation.

An evaluation itself is started by the action `evaluation.run`.
"""

from __future__ import annotations

from armarium_training.cards import entry_of_run
from armarium_training.catalogue import TrainedModel, trained_models
from armarium_training.line_sets import MIN_LINES, MIN_PAGES, TaughtLine, checked_lines, checksum_of
from armarium_training.measuring import interval, main_policy, paired_bootstrap, paired_p_value
from armarium_training.planning import Measurable, is_new_to, kind_of, measurable
from armarium_training.queries.evaluation import scores_on_cards
from armarium_training.queries.job_rows import EVALUATE
from armarium_training.relatives import without_repeats
from armarium_training.schemas.evaluation import ALL_POLICIES, Candidate

__all__ = [
    "ALL_POLICIES",
    "EVALUATE",
    "MIN_LINES",
    "MIN_PAGES",
    "Candidate",
    "Measurable",
    "TaughtLine",
    "TrainedModel",
    "checked_lines",
    "checksum_of",
    "entry_of_run",
    "interval",
    "is_new_to",
    "kind_of",
    "main_policy",
    "measurable",
    "paired_bootstrap",
    "paired_p_value",
    "scores_on_cards",
    "trained_models",
    "without_repeats",
]
