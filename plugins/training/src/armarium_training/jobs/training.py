"""A training on this machine: prepare the lines, train epoch after epoch, take in the best weights and their card."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from armarium.api import JobContext, Unavailable, Use, find_withheld, now
from armarium_reading.api import load_reader, worker_of
from armarium_training import cards, errors
from armarium_training.jobs.far_steps import FarSteps
from armarium_training.laying_out import (
    Cut,
    cut_by_reader,
    lay_out_lines,
    lay_out_regions,
    lines_of_training,
)
from armarium_training.line_sets import TaughtLine
from armarium_training.schemas.training import TrainArgs
from armarium_training.staging import CARD, LINES, staging
from armarium_training.starting import Base, base_of, far_base_of, held_pages, read_base_card, region_base_of
from armarium_training.trainers import Trainer, runtime_of, trainer_of
from armarium_training.whole_files import write_whole

PATIENCE = 5
"""After this many epochs without improvement a training ends, unless a number was stated."""
REGION_PATIENCE = 10
"""The same for a detector, whose epochs have few pages each."""
MOST_EPOCHS = 1_000
NAMES = {"cer": "CER", "map50": "mAP50"}


class Training(FarSteps):
    """One run of the job: its progress, and the steps to the end."""

    def __init__(self, job: JobContext) -> None:
        self.job = job
        # A recipe may name folders.
        with job.library.db.read_all() as conn:
            held_out = held_pages(conn, job.args.held_out_ids)
        self.args: TrainArgs = job.args.model_copy(update={"held_out_ids": held_out})
        self.folder = staging(job.library, job.job_id)
        self.kept: dict[str, Any] = {"history": [], "curve": [], "lines": [], "facts": {}, **job.checkpoint}

    def run(self) -> dict[str, Any]:
        """Do everything that is left; after a kill it resumes from its last complete epoch."""
        if "landed" not in self.kept:
            trainer, base = self._trainer()
            if not self._is_laid_out():
                self._prepare(trainer)
            params = self._collect_params(trainer, base)
            if self.args.place is not None:
                self._take_in(lambda: self._land(trainer, base, self._train_there(params)))
            else:
                self._train(trainer, params)
                result = self._ask(trainer, "finish", params)
                self._land(trainer, base, self._with_text(trainer, result))
        shutil.rmtree(self.folder, ignore_errors=True)
        return {
            "reader_id": self.kept["landed"],
            "epochs": len(self.kept["curve"]),
            **self._best_measure(),
            "training_set": {
                key: value for key, value in self.kept["training_set"].items() if key != "documents"
            },
            "measured": self.kept.get("measured"),
        }

    def _is_laid_out(self) -> bool:
        """Return whether the lines are laid out, and may still be used."""
        if not (self.folder / LINES).is_file() or "training_set" not in self.kept:
            return False
        # What was sent is being trained on.
        return self.kept.get("far_id") is not None or not self._find_barred()

    def _find_barred(self) -> dict[str, str]:
        """Return those of the pages it trains on that it may no longer use, with the reasons."""
        pages = [document["document_id"] for document in self.kept["training_set"]["documents"]]
        use: Use = "local-model" if self.args.place is None else "cloud-model"
        return find_withheld(self.job.library, self.job.principal, pages, use)

    def _trainer(self) -> tuple[type[Trainer], Base | None]:
        engine, args = self.job.engine, self.args
        if args.card == "regions":
            return trainer_of(engine, "regions", args.trainer), region_base_of(
                engine, self.job.library, args.base
            )
        if args.place is not None:
            far_base = far_base_of(engine, self.job.library, args.base)
            return far_base.trainer, far_base
        base = base_of(engine, self.job.library, args.base, args.trainer)
        return base.trainer, base

    def _with_text(self, trainer: type[Trainer], result: dict[str, Any]) -> dict[str, Any]:
        """Return the model with counts of its training text, if that helps it read lines it was not trained on."""
        if not trainer.fits_text:
            return result
        params = {"folder": str(self.folder), "model": result["model"]}
        worker = worker_of(load_reader(self.job.engine, trainer.reader))
        return {**result, "text_model": self.job.call_worker(*worker, "fit_text", params)}

    def _best_measure(self) -> dict[str, Any]:
        """Return the best epoch's measure on the validation lines."""
        curve = self.kept["curve"]
        if curve and "map50" in curve[0]:
            return {"map50": max(point["map50"] for point in curve)}
        return {"cer": min((point["cer"] for point in curve), default=None)}

    def _enter(self, phase: str) -> None:
        """Record once that *phase* is reached."""
        history = self.kept["history"]
        if not history or history[-1]["phase"] != phase:
            self.kept = {**self.kept, "history": [*history, {"phase": phase, "at": now()}]}
            self.job.save(self.kept)

    def _prepare(self, trainer: type[Trainer]) -> None:
        self._enter("preparing")
        # An earlier attempt may have left part of it, with lines that have changed since.
        shutil.rmtree(self.folder, ignore_errors=True)
        training_set, held_out = self._lay_out(trainer)
        self.kept = {
            **self.kept,
            "training_set": training_set,
            "held_out": held_out,
            "curve": [],
            "lines": [],
        }
        self.job.save(self.kept)

    def _lay_out(self, trainer: type[Trainer]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Write what is to be learnt to the folder; return what the card says of it, and the pages held out."""
        if self.args.card == "regions":
            regions = lay_out_regions(self.job, self.args, self.folder)
            return regions, regions.pop("held_out")
        with self.job.library.db.read_all() as conn:
            line_set = lines_of_training(conn, self.job, self.args)
        passes = line_set.pages

        def cut(page: str, lines: list[TaughtLine]) -> Cut:
            return cut_by_reader(self.job, trainer.reader, passes[page], page, lines)

        lay_out_lines(self.job, self.folder, line_set, cut)
        return line_set.card_entry(), line_set.held_out

    def _collect_params(self, trainer: type[Trainer], base: Base | None) -> dict[str, Any]:
        """Return what every call of the trainer's worker contains."""
        params: dict[str, Any] = {
            "folder": str(self.folder),
            "batch_size": self.args.batch_size,
            "model": str(self.folder),
        }
        if self.args.card == "regions":
            params |= {
                "image_size": self.args.image_size,
                "max_pixels": self.job.engine.settings.max_image_pixels,
            }
            return params if base is None else {**params, "base": {"path": str(base.path)}}
        assert base is not None
        if base.name is not None:
            worker = worker_of(load_reader(self.job.engine, trainer.reader))
            path = str(base.path) if base.path else None
            params["base"] = self.job.call_worker(*worker, "base", {"path": path})
        return params

    def _ask(
        self, trainer: type[Trainer], method: str, params: dict[str, Any], **more: Any
    ) -> dict[str, Any]:
        runtime = runtime_of(self.job.engine, trainer)
        worker = runtime.name if runtime else None, trainer.worker
        return self.job.call_worker(*worker, method, {**params, **more}, on_progress=self._hear)

    def _hear(self, report: dict[str, Any]) -> None:
        if self.job.stop == "cancel":
            # The queue stops the worker; nothing more of it counts.
            return
        self.job.progress(len(self.kept["curve"]), self._total())

    def _total(self) -> int:
        epoch = len(self.kept["curve"])
        return self.args.epochs or epoch + max(1, PATIENCE - self._since_best())

    def _since_best(self) -> int:
        curve = self.kept["curve"]
        best = max((number for number, point in enumerate(curve) if point["best"]), default=-1)
        return len(curve) - 1 - best if curve else 0

    def _is_over(self) -> bool:
        epoch = len(self.kept["curve"])
        if self.args.card == "regions":
            # For a detector the number of epochs is an upper limit.
            return epoch >= (self.args.epochs or MOST_EPOCHS) or (
                epoch > 0 and self._since_best() >= REGION_PATIENCE
            )
        if self.args.epochs is not None:
            return epoch >= self.args.epochs
        return epoch >= MOST_EPOCHS or (epoch > 0 and self._since_best() >= PATIENCE)

    def _train(self, trainer: type[Trainer], params: dict[str, Any]) -> None:
        self._enter("running")
        while not self._is_over():
            self.job.check()
            for page, why in self._find_barred().items():
                raise errors.no_longer_allowed(page, why)
            number = len(self.kept["curve"]) + 1
            epoch = self._ask(trainer, "epoch", params, epoch=number)
            measure = trainer.measure
            point = {key: epoch[key] for key in ("epoch", "loss", measure, "seconds", "best")}
            words = f"epoch {number}: loss {epoch['loss']:.3f}, {NAMES[measure]} {epoch[measure]:.4f}, {epoch['seconds']:.0f} s"
            self.kept = {
                **self.kept,
                "curve": [*self.kept["curve"], point],
                "lines": [*self.kept["lines"], words][-20:],
                "measured": self._sum_measures(epoch),
                "lines_trained": epoch.get("lines"),
            }
            self.job.save(self.kept, done=number, total=self._total())
            self.job.log("info", words)

    def _sum_measures(self, epoch: dict[str, Any]) -> dict[str, Any]:
        before = self.kept.get("measured") or {}
        return {
            "peak_memory_mb": max(epoch["peak_memory_mb"], before.get("peak_memory_mb", 0)),
            "added_memory_mb": max(epoch["added_memory_mb"], before.get("added_memory_mb", 0)),
            "device": epoch["device"],
            "threads": epoch["threads"],
            "epochs": epoch["epoch"],
            "seconds": round(before.get("seconds", 0.0) + epoch["seconds"], 2),
        }

    def _common_manifest(self) -> dict[str, Any]:
        args = self.args
        names = ("trainer", "epochs", "batch_size", "flavor", "timeout")
        return {"work": "train", **{name: getattr(args, name) for name in names}}

    def _manifest(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what is sent with the lines of a training elsewhere; the base's file is put next to them."""
        manifest = {**self._common_manifest(), "patience": PATIENCE}
        base = params.get("base")
        if base is not None:
            write_whole(self.folder / "base.onnx", Path(base["path"]).read_bytes())
            manifest["base"] = {key: base[key] for key in ("alphabet", "calibration")}
        return manifest

    def _land(self, trainer: type[Trainer], base: Base | None, result: dict[str, Any]) -> None:
        self._enter("landing")
        model = Path(result["model"])
        if not model.is_file() or not model.resolve().is_relative_to(self.folder.resolve()):
            raise Unavailable("The trainer wrote no model.", code="worker_failed")
        card = self._card(trainer, base, self._finish_model(result))
        write_whole(self.folder / CARD, json.dumps(card, ensure_ascii=False).encode())

        def keep_answer(answer: dict[str, Any]) -> dict[str, Any]:
            return {**self.kept, "landed": answer["id"]}

        outcome = self.job.act("training.land", {"job_id": self.job.job_id}, checkpoint=keep_answer)
        self.kept = keep_answer(outcome.result or {})

    def _finish_model(self, result: dict[str, Any]) -> dict[str, Any]:
        """Finish a trained model before it is taken in; return what its card should say about that."""
        if Path(result["model"]).name == cards.CONFIG:
            (Path(result["model"]).parent / cards.MADE_BY).write_text(self.job.job_id, "utf-8")
        return result

    def _card(self, trainer: type[Trainer], base: Base | None, result: dict[str, Any]) -> dict[str, Any]:
        args, progress = self.args, self.kept
        is_lines = args.card == "linereader"
        measure = trainer.measure
        if measure == "cer":
            best = min(progress["curve"], key=lambda point: point["cer"])
        else:
            best = max(reversed(progress["curve"]), key=lambda point: point[measure])
        of_base = None if base is None or base.name is None else self._base_card(base.name)
        store = trainer.reader if is_lines else "layout"
        if is_lines:
            store = load_reader(self.job.engine, trainer.reader).model_kind or trainer.reader
        return {
            **self._common_card(best),
            "id": f"{'linereader' if is_lines else 'layout'}-trained-{self.job.job_id}",
            "store": store,
            "summary": _summary(progress["training_set"], is_lines, progress.get("lines_trained")),
            "kind": "linereader-reader" if is_lines else "layout-detector",
            "base": None if base is None else base.name,
            "base_licence": (of_base or {}).get("base_licence"),
            "base_seen": seen_by(of_base),
            "lines_trained": progress.get("lines_trained") if is_lines else None,
            f"validation_{measure}": best[measure],
            **{
                key: result[key]
                for key in ("letters", "new_letters", "classes", "text_model")
                if key in result
            },
            "evaluations": [] if result.get("map50") is None else [self._score(result)],
        }

    def _common_card(self, best: dict[str, Any]) -> dict[str, Any]:
        """Return what the card of every trained model says; *best* is its best epoch."""
        args, progress = self.args, self.kept
        return {
            "display_name": args.display_name or args.name,
            "teacher": args.teacher,
            "training_set": progress["training_set"],
            "held_out": progress["held_out"],
            "epochs": len(progress["curve"]),
            "best_epoch": best["epoch"],
            "curve": progress["curve"],
            "not_for_release": args.not_for_release,
            "release_note": args.release_note,
            "job_id": self.job.job_id,
            "trained_at": now(),
            "trained_where": "this-machine" if args.place is None else "model-hub",
            "far_id": progress.get("far_id"),
            "flavor": args.flavor,
            "measured": progress.get("measured"),
        }

    def _score(self, result: dict[str, Any]) -> dict[str, Any]:
        """Measure a detector on the held-out pages, as an entry among its card's evaluations."""
        return {
            "job_id": self.job.job_id,
            "measured_at": now(),
            "pages": result.get("held_out_pages", len(self.kept["held_out"])),
            "checked": "regions that people drew or changed",
            "cer": {},
            "map50": result["map50"],
        }

    def _base_card(self, base: str) -> dict[str, Any] | None:
        return read_base_card(self.job.engine, self.job.library, base)


def seen_by(card: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the pages that a base and its bases were trained on: a reader derived from it may have seen them all."""
    if card is None:
        return []
    pages = [*cards.trained_on(card), *cards.pages_on(card.get("base_seen"))]
    return [{"document_id": page["document_id"], "checksum": page.get("checksum")} for page in pages]


def _summary(training_set: dict[str, Any], is_lines: bool, trained: int | None) -> str:
    """Return, in words, what a model was trained on; *trained* lines, if others of the set were only for validation."""
    noun = "lines" if is_lines else "regions"
    whole, pages = training_set[noun], training_set["pages"]
    words = f"{whole} {noun if whole != 1 else noun[:-1]} of {pages} {'page' if pages == 1 else 'pages'}"
    if is_lines:
        words += f", {training_set['lines_checked_by_a_person']} of them checked by a person"
    if is_lines and trained and trained < whole:
        return f"Trained on {trained} of {words}; the others chose the best epoch or could not be used."
    return f"Trained on {words}."
