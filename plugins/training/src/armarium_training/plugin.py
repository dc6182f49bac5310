"""What training contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import Migration, Plugin, actions_in, derived_from, hookimpl, queries_in
from armarium_source_model.api import RestsOnText
from armarium_training import hookspecs
from armarium_training.actions import evaluation, reasons, remote, scale, training, vision
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute
from armarium_training.jobs.evaluation import EVALUATION
from armarium_training.jobs.kinds_of_training import TRAIN_A_MODEL, TRAIN_HERE
from armarium_training.jobs.reasons import COMPARE_REASONS, GATHER_REASONS
from armarium_training.jobs.scale import READ_AT_SCALE
from armarium_training.models import metadata
from armarium_training.queries import evaluation as evaluation_read
from armarium_training.queries import reasons as reasons_read
from armarium_training.queries import scale as scale_read
from armarium_training.queries import training as training_read
from armarium_training.stale_models import RestingModels, taught_by
from armarium_training.trainers import CONVERTERS, Converter, Trainer
from armarium_training.trainers import GROUP as TRAINERS


def _drop_said_by_job(op: Any) -> None:
    for column in ("pages", "checksum"):
        op.drop_column("training_shard", column)


@hookimpl
def armarium_plugin() -> Plugin:
    """Training of readers on corrected lines, their evaluation, and reading at scale."""
    return Plugin(
        name="training",
        summary="Training of readers on corrected lines, their evaluation, and reading at scale",
        prefixes=(
            "training",
            "evaluation",
            "reading.start_at_scale",
            "reading.resend_failed",
            "reading.cancel_at_scale",
            "train-on-this-machine",
            "train-a-model",
            "evaluate-models",
            "gather-reasons",
            "reasons-ab",
            "read-at-scale",
        ),
        metadata=metadata,
        version=2,
        migrations=(Migration(2, "A shard says no longer what its job says.", _drop_said_by_job),),
        actions=actions_in(training, remote, vision, reasons, evaluation, scale),
        jobs=(TRAIN_HERE, EVALUATION, READ_AT_SCALE, GATHER_REASONS, COMPARE_REASONS),
        recipe_jobs=(TRAIN_A_MODEL,),
        queries=queries_in(training_read, evaluation_read, scale_read, reasons_read),
        driver_groups=(TRAINERS, CONVERTERS, COMPUTE),
        check_driver=derived_from({TRAINERS: Trainer, CONVERTERS: Converter, COMPUTE: Compute}),
        hookspecs=hookspecs,
        hooks=__name__,
    )


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (RestingModels(),)


armarium_checking_taught = hookimpl(optionalhook=True)(taught_by)
