"""The worker that trains kraken's recognition models like `ketos train`: one epoch per call, state in a
checkpoint.

It has the methods of every line trainer (`armarium_training.trainers.Trainer`). The lines come from
`teaching`, cut along their baselines, and the model is marked accordingly.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarium_reader_kraken.reader import _first_line
from armarium_reader_kraken.teaching import HEIGHT
from armarium_worker import Call, EpochTrainer, Refused, no_room
from armarium_worker.torch_builds import define_missing_operators

LINES, LAST, BEST, EPOCHS = "kraken-lines", "last.ckpt", "best.ckpt", "epochs.json"
MODEL = "model.safetensors"
SEED = 16
RATE, RATE_NEW = 3e-4, 1e-3
"""Learning rates: from a base, and from nothing."""


@dataclass
class Ready:
    """A training in hand; its network lies in its checkpoints."""

    folder: Path
    epochs: list[dict[str, Any]]


class KrakenTrainer(EpochTrainer[Ready]):
    """Answers `epoch` and `finish`; params: folder, base? {path}, batch_size.

    An epoch's outcome: epoch, loss, cer (on the validation lines), lines, validation_lines, best.
    """

    def begin(self, folder: Path, params: Mapping[str, Any]) -> Ready:
        """The epochs that are done."""
        return Ready(folder, _read_epochs(folder))

    def finish(self, call: Call) -> dict[str, Any]:
        """Write the best epoch's model as a file that kraken reads with: {model}."""
        define_missing_operators()
        from kraken.models.convert import convert_models

        folder = self.load_finished(call).folder
        beside = folder / f"part-{MODEL}"
        try:
            model_path = Path(convert_models([str(folder / BEST)], str(beside), weights_format="safetensors"))
            os.replace(model_path, folder / MODEL)
        except OSError as error:
            raise no_room("the model", error) from error
        return {"model": str(folder / MODEL)}

    def one_epoch(self, call: Call, ready: Ready) -> None:
        """All lines once, then those for validation read."""
        define_missing_operators()
        import torch
        from kraken.configs import VGSLRecognitionTrainingConfig, VGSLRecognitionTrainingDataConfig
        from kraken.train import KrakenTrainer as Fitting
        from kraken.train import VGSLRecognitionDataModule, VGSLRecognitionModel
        from lightning.pytorch.callbacks import Callback

        folder = ready.folder
        number, started = len(ready.epochs) + 1, time.monotonic()
        torch.set_num_threads(self.context.threads)
        torch.set_flush_denormal(True)
        torch.manual_seed(SEED + number)
        taught, validation = _laid_out(folder)
        base = call.params.get("base")
        configuration = VGSLRecognitionTrainingConfig(
            batch_size=int(call.params.get("batch_size", 4)),
            quit="fixed",
            epochs=number,
            lrate=RATE if base else RATE_NEW,
            resize="union",
        )
        lines = VGSLRecognitionDataModule(
            VGSLRecognitionTrainingDataConfig(
                training_data=taught,
                evaluation_data=validation,
                format_type="path",
                linetype="baselines",
                num_workers=0,
                normalization="NFC",
                normalize_whitespace=True,
                augment=False,
            )
        )

        class ReportProgress(Callback):  # type: ignore[misc]
            """Tells how far the epoch is, and stops it where it is to stop."""

            def on_train_batch_end(
                self, trainer: Any, module: Any, outputs: Any, batch: Any, at: int
            ) -> None:
                call.check()
                call.progress(
                    min((at + 1) * configuration.batch_size, len(taught)),
                    len(taught),
                    unit="lines",
                    epoch=number,
                )

        fitting = Fitting(
            accelerator="cpu",
            devices=1,
            precision="32-true",
            max_epochs=number,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            num_sanity_val_steps=0,
            callbacks=[ReportProgress()],
            default_root_dir=str(folder),
        )
        last = folder / LAST
        try:
            if last.is_file():
                module = VGSLRecognitionModel.load_from_checkpoint(
                    last, config=configuration, weights_only=False
                )
            elif base:
                module = VGSLRecognitionModel.load_from_weights(base["path"], config=configuration)
            else:
                module = VGSLRecognitionModel(configuration)
        except Exception as error:
            raise Refused(
                f"The base is not a kraken model that reads lines and can be trained further ({_first_line(error)})."
            ) from error
        fitting.fit(module, lines, ckpt_path=str(last) if last.is_file() else None, weights_only=False)
        metrics = fitting.callback_metrics
        rate = 1.0 - float(metrics["val_metric"])
        is_best = all(rate < epoch["cer"] for epoch in ready.epochs)
        outcome = self.outcome(
            started,
            epoch=number,
            loss=round(float(metrics.get("train_loss_epoch", metrics.get("train_loss", 0.0))), 4),
            cer=round(rate, 5),
            lines=len(taught),
            validation_lines=len(validation),
            best=is_best,
        )
        self._save(fitting, folder, [*ready.epochs, outcome], is_best=is_best)
        ready.epochs.append(outcome)

    def _save(self, fitting: Any, folder: Path, epochs: list[dict[str, Any]], *, is_best: bool) -> None:
        """Save, the list of epochs last: what it lists is on disk. After an earlier kill the epoch is repeated."""
        beside = folder / f"part-{LAST}"
        try:
            fitting.save_checkpoint(beside)
            if is_best:
                shutil.copyfile(beside, folder / f"part-{BEST}")
                os.replace(folder / f"part-{BEST}", folder / BEST)
            os.replace(beside, folder / LAST)
            (folder / f"part-{EPOCHS}").write_text(json.dumps(epochs), "utf-8")
            os.replace(folder / f"part-{EPOCHS}", folder / EPOCHS)
        except OSError as error:
            raise no_room("its checkpoint", error) from error


def _read_epochs(folder: Path) -> list[dict[str, Any]]:
    path = folder / EPOCHS
    epochs: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return epochs


def _laid_out(folder: Path) -> tuple[list[str], list[str]]:
    """Return the lines as pictures and texts in kraken's form: those for training, those for validation."""
    from PIL import Image

    lines = json.loads((folder / "lines.json").read_text("utf-8"))["lines"]
    target = folder / LINES
    target.mkdir(exist_ok=True)
    parts: tuple[list[str], list[str]] = ([], [])
    with (folder / "pictures.bin").open("rb") as pictures:
        for number, line in enumerate(lines):
            data = pictures.read(HEIGHT * int(line["width"]))
            path = target / f"{number:06}.png"
            if not path.is_file():
                path.with_suffix(".gt.txt").write_text(line["text"], "utf-8")
                beside = target / f"{number:06}.part"
                Image.frombytes("L", (int(line["width"]), HEIGHT), data).save(beside, "PNG")
                os.replace(beside, path)
            parts[bool(line["for_validation"])].append(str(path))
    taught, validation = parts
    # Too few lines for validation: the training lines are used.
    return taught, validation or taught
