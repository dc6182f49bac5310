"""A training of a vision model: lines' pictures with instruction and answer, an adapter trained, the merged
model taken in.
"""

from __future__ import annotations

from typing import Any

from armarium_training.arms import exchange_of, shared_lines
from armarium_training.asking_lines import line_pictures
from armarium_training.cards import MADE_BY
from armarium_training.jobs.training import Training, seen_by
from armarium_training.laying_out import Cut, lay_out_lines, lines_of_training
from armarium_training.line_sets import TaughtLine
from armarium_training.schemas.vision import VisionArgs
from armarium_training.staging import MERGED, MODEL
from armarium_training.starting import Base, vision_base_of
from armarium_training.trainers import Trainer, converter_of, trainer_named, trainer_of

MARGIN = 0.15
"""How much of the surroundings the reader of vision models shows, as a share of the line's height."""
SERVICE = "service-trained/"


class VisionTraining(Training):
    """One run of the job; its base is a model on this machine, or one at the model hub for a training there."""

    @property
    def vision(self) -> VisionArgs:
        """Return the arguments this job has besides those of every training."""
        return VisionArgs.from_stored(self.args.vision)

    def _trainer(self) -> tuple[type[Trainer], Base | None]:
        engine, args = self.job.engine, self.args
        if args.place is not None:
            far_trainer = trainer_named(engine, "vision-lora", args.trainer)
            return far_trainer, Base(far_trainer, str(args.base), None)
        trainer = trainer_of(engine, "vision-lora", args.trainer)
        return trainer, Base(
            trainer, str(args.base), vision_base_of(engine, self.job.library, str(args.base))
        )

    def _lay_out(self, trainer: type[Trainer]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Write the lines' pictures and their exchanges; a line whose picture cannot be cut is left out."""
        vision = self.vision
        with self.job.library.db.read_all() as conn:
            training_set = lines_of_training(conn, self.job, self.args)
            shared = shared_lines(
                conn,
                training_set.lines,
                arm=vision.arm,
                max_trace_cer=vision.max_trace_cer,
                all_lines=vision.all_lines,
            )
        training_set.lines = shared.lines

        def cut(page: str, lines: list[TaughtLine]) -> Cut:
            pictures, described = [], []
            for line, picture in line_pictures(self.job, page, lines, margin=MARGIN, sides=True):
                prompt, answer = exchange_of(shared, line, vision.arm, vision.language)
                size = len(picture.data)
                described.append(
                    (line, {"bytes": size, "prompt": prompt, "answer": answer, "text": line.text})
                )
                pictures.append(picture.data)
            return b"".join(pictures), described

        lay_out_lines(self.job, self.folder, training_set, cut)
        shared.lines = training_set.lines
        return {**training_set.card_entry(), **shared.entry(vision.arm)}, training_set.held_out

    def _collect_params(self, trainer: type[Trainer], base: Base | None) -> dict[str, Any]:
        assert base is not None
        place = {"repo": base.name} if base.path is None else {"path": str(base.path)}
        return {
            "folder": str(self.folder),
            "model": str(self.folder),
            "batch_size": self.args.batch_size,
            "rank": self.vision.rank,
            "base": place,
        }

    def _manifest(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the manifest; the base is downloaded where the training runs."""
        own = {"patience": None, "rank": self.vision.rank, "base": params["base"], "results": [MERGED]}
        return {**self._common_manifest(), **own}

    def _finish_model(self, result: dict[str, Any]) -> dict[str, Any]:
        """Convert the whole model to fewer bits, in the folder that is taken in."""
        converter = converter_of(self.job.engine)
        params = {"model": result["model"], "target": str(self.folder / MODEL)}
        runtime = converter.runtime.name if converter.runtime else None
        converted = self.job.call_worker(runtime, converter.worker, "convert", params)
        (self.folder / MODEL / MADE_BY).write_text(self.job.job_id, "utf-8")
        return {**result, "bits": converted.get("bits"), "converter": converter.name}

    def _card(self, trainer: type[Trainer], base: Base | None, result: dict[str, Any]) -> dict[str, Any]:
        args, vision, progress = self.args, self.vision, self.kept
        best = min(progress["curve"], key=lambda point: point["cer"])
        of_base = self._base_card(str(args.base))
        return {
            **self._common_card(best),
            "id": f"{SERVICE}{args.name}",
            "store": trainer.reader,
            "summary": _summary(progress["training_set"], str(args.base)),
            "kind": "vision-lora",
            "base": str(args.base),
            "base_licence": vision.base_licence or (of_base or {}).get("base_licence"),
            "base_seen": seen_by(of_base),
            "language": vision.language,
            "target": "vision",
            "validation_cer": best["cer"],
            "rank": vision.rank,
            "arm": vision.arm,
            "bits": result["bits"],
            "converter": result["converter"],
            "merged_here": vision.keep_merged_here,
            "adapter": result.get("adapter_there") if args.place is not None else None,
            "evaluations": [],
        }


def _summary(training_set: dict[str, Any], base: str) -> str:
    count, pages = training_set["lines_taught"], training_set["pages"]
    return (
        f"{base} trained on {count} {'line' if count == 1 else 'lines'} of {pages} {'page' if pages == 1 else 'pages'}, "
        f"{training_set['lines_checked_by_a_person']} of them checked by a person; arm {training_set['arm']}."
    )
