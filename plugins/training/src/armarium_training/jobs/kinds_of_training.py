"""The two kinds of trainings: one on this machine, and one at the model hub, which is also the job of a recipe."""

from __future__ import annotations

import shutil
from typing import Any

from armarium.api import (
    Engine,
    JobContext,
    JobKind,
    Library,
    NameOrMaterialPath,
    Placement,
    RecipeJob,
    ServiceError,
)
from armarium_documents.api import pages_under
from armarium_training.jobs.ending_elsewhere import end_training
from armarium_training.jobs.far_steps import ATTEMPTS
from armarium_training.jobs.training import Training
from armarium_training.jobs.vision import VisionTraining
from armarium_training.queries.job_rows import HERE, TRAIN
from armarium_training.schemas.training import TrainArgs, TrainSettings
from armarium_training.staging import staging
from armarium_training.starting import base_of, trainer_wanted


def train(job: JobContext) -> dict[str, Any]:
    """Run the job."""
    try:
        kind = VisionTraining if job.args.card == "vision-lora" else Training
        return kind(job).run()
    except ServiceError as error:
        if error.code == "worker_refused":
            # The user can fix it, and the message says how; it is a refusal of the training, not of a page.
            job.log("error", error.detail)
        raise
    except BaseException:
        if job.stop == "cancel":
            # A job that is resumed prepares its lines again.
            shutil.rmtree(staging(job.library, job.job_id), ignore_errors=True)
        raise


_COMMON: dict[str, Any] = {
    "run": train,
    "args": TrainArgs,
    "unit": "epochs",
    "heavy": True,
    "steps_aside": True,
}

TRAIN_HERE = JobKind(
    name=HERE, lane="local-model", summary="Train a model on this machine.", on_cancel=end_training, **_COMMON
)


def _find_placement(engine: Engine, library: Library, settings: TrainSettings) -> Placement:
    with library.db.read_all() as conn:
        pages_under(conn, settings.held_out_ids)
    base_name = None if settings.base is None else NameOrMaterialPath(settings.base)
    base = base_of(engine, library, base_name, trainer_wanted(library, base_name))
    return Placement(model=f"{base.trainer.reader}:{base.name or 'new'}", lane="local-model")


TRAIN_A_MODEL = RecipeJob(
    kind=JobKind(
        name=TRAIN,
        lane="remote",
        also_lanes=("local-model",),
        summary="Train a reader on lines that were read and corrected.",
        remote=True,
        retries=ATTEMPTS,
        on_cancel=end_training,
        **_COMMON,
    ),
    name="Train a model",
    description="Trains a line reader further on the lines of pages, with the corrections that persons made in them.",
    layer="train",
    takes=("line_readings",),
    gives=("model",),
    settings=TrainSettings,
    writes=("training.land",),
    compare="characters wrong of all characters on held-out pages, before and after",
    each="scope",
    model_setting="base",
    place=_find_placement,
)
