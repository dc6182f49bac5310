"""Trainers make a model from lines. Each is a driver; its work is done by a worker in a runtime of its own."""

from __future__ import annotations

from typing import ClassVar, Literal

from armarium.api import Engine, ServiceError
from armarium_layout.api import DETECTOR_MODELS, Detector
from armarium_reading.api import Runtime, load_reader
from armarium_training import errors

GROUP, CONVERTERS = "armarium.trainers", "armarium.converters"
TORCH = Runtime(
    name="hand-trainer",
    package="armarium_hand_trainer",
    requirements="requirements.txt",
    probe="torch",
    summary="PyTorch 2.13 for this processor: trains the hand reader further on lines you corrected.",
    size_mb=900,
)


VISION_TORCH = Runtime(
    name="vision-trainer",
    package="armarium_vision_trainer",
    requirements="requirements.txt",
    probe="peft",
    summary="transformers 5.23 with peft 0.21: trains models that read pictures of lines, and converts them to 4 bits.",
    size_mb=2100,
)


REGION_TORCH = Runtime(
    name="region-trainer",
    package="armarium_region_trainer",
    requirements="requirements.txt",
    probe="transformers",
    summary="transformers 5.23 with PyTorch 2.13: trains detectors on regions you drew, and finds regions with them.",
    size_mb=1300,
)


class Trainer:
    """The base of every trainer driver: class attributes only; its worker answers `epoch` and `finish`.

    A line trainer's worker is given a `folder` with `lines.json` ({"lines": [{text, width, for_validation}]})
    and `pictures.bin` (the pictures that the reader's worker returns for `line_pictures`, one after the
    other), the answer of the reader's `base` as `base` (none: from scratch), and `batch_size`. `epoch` does
    the epoch with the number `epoch` unless it is done, and answers {epoch, loss, cer, lines, seconds, best,
    device, threads, peak_memory_mb, added_memory_mb}; killed at any moment and called again it resumes from
    its last complete epoch. `finish` answers {model}, the path of the file with the best epoch's weights.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    card: ClassVar[str] = "linereader"
    """What it trains: linereader, regions or vision-lora."""
    worker: ClassVar[str]
    """`module:class` of its worker."""
    runtime: ClassVar[Runtime | None] = None
    reader: ClassVar[str]
    """The reader that its models belong to, whose worker answers `line_pictures` and `base`; for detectors
    the folder of models.
    """
    measure: ClassVar[Literal["cer", "map50"]] = "cer"
    """The measure of an epoch: characters wrong (cer, lower is better), or regions found (map50, higher is better)."""
    suffix: ClassVar[str | tuple[str, ...]] = ".onnx"
    fits_text: ClassVar[bool] = False
    """Whether its reader's worker answers `fit_text`, which adds statistics of the training text to the model
    if that helps.
    """
    in_readers_runtime: ClassVar[bool] = False
    """Whether its worker runs in the runtime of its reader, and so declares none of its own."""
    goes_far: ClassVar[bool] = True
    """Whether it can be sent to another machine."""


class HandTrainer(Trainer):
    """Trains the hand reader's model further, or a new one of the same design."""

    name = "hand"
    label = "Trainer of the hand reader"
    worker = "armarium_hand_trainer.trainer:HandTrainer"
    runtime = TORCH
    reader = "hand"
    fits_text = True


class KrakenTrainer(Trainer):
    """Trains a recognition model of kraken further, or a new one, as `ketos train` does."""

    name = "kraken"
    label = "Trainer of kraken"
    worker = "armarium_reader_kraken.trainer:KrakenTrainer"
    reader = "kraken"
    suffix = (".safetensors", ".mlmodel")
    in_readers_runtime = True
    goes_far = False


class LoraTrainer(Trainer):
    """Trains a low-rank adapter of a vision model, and merges it into the weights of its base.

    Its worker's `lines.json` is {"lines": [{bytes, prompt, answer, text, for_validation}]}, `pictures.bin`
    contains the lines' pictures as PNG files, one after the other; `base` is {path} of a local config.json or
    {repo} at the model hub, and `rank` that of the adapter. `finish` answers {model, adapter}: the
    config.json of the whole model and of the adapter, each in a folder of its own.
    """

    name = "vision-lora"
    label = "Trainer of vision models"
    card = "vision-lora"
    worker = "armarium_vision_trainer.trainer:VisionTrainer"
    runtime = VISION_TORCH
    reader = "vision"
    suffix = "config.json"


class RegionTrainer(Trainer):
    """Trains a layout detector (RT-DETR or D-FINE) on regions that people drew or changed.

    Its worker's `lines.json` is {"pages": [{file, regions[] {class, rect}, part}]}, with rects in fractions
    of the page and `part` one of taught, validation and held-out; `base` is {path} of a local config.json,
    and `image_size` the side in pixels to which pages are scaled. `epoch` answers `map50` instead of `cer`,
    `finish` {model, map50}: the config.json of a folder, and the score on the held-out pages (None if nobody
    drew regions there).
    """

    name = "regions"
    label = "Trainer of layout detectors"
    card = "regions"
    worker = "armarium_region_trainer.trainer:RegionTrainer"
    runtime = REGION_TORCH
    reader = DETECTOR_MODELS
    suffix = "config.json"
    measure = "map50"


class RegionDetector(Detector):
    """Finds regions with a detector that was trained here."""

    name = "rt-detr"
    label = "RT-DETR and D-FINE"
    worker = "armarium_region_trainer.detector:Detector"
    runtime = REGION_TORCH
    model_types = frozenset({"rt_detr", "rt_detr_v2", "d_fine"})


class Converter:
    """The base of every converter driver: its worker answers `convert` with a model of fewer bits per weight.

    It is given `model`, the config.json of a whole model, and `target`, a folder to write, and answers
    {model, bits}.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    worker: ClassVar[str]
    runtime: ClassVar[Runtime | None] = None


class FourBitConverter(Converter):
    """Converts a vision model's linear layers to 4 bits (NF4)."""

    name = "4-bit"
    label = "4 bits a weight"
    worker = "armarium_vision_trainer.converter:FourBit"
    runtime = VISION_TORCH


def converter_of(engine: Engine) -> type[Converter]:
    """Return the first converter whose runtime is installed; Conflict says how to install that of the first one."""
    names = engine.drivers.names(CONVERTERS)
    converters: list[type[Converter]] = [engine.drivers.load(CONVERTERS, name) for name in names]
    converter = next(
        (candidate for candidate in converters if engine.runtimes.missing(candidate) is None), converters[0]
    )
    if converter.runtime is not None:
        engine.runtimes.python_of(converter.runtime.name)
    return converter


def trainers(engine: Engine) -> list[type[Trainer]]:
    """Return every trainer that loads, by name, without those whose reader is not installed."""
    loaded = []
    for name in engine.drivers.names(GROUP):
        try:
            trainer: type[Trainer] = engine.drivers.load(GROUP, name)
            runtime_of(engine, trainer)
        except ServiceError:
            continue
        loaded.append(trainer)
    return loaded


def runtime_of(engine: Engine, trainer: type[Trainer]) -> Runtime | None:
    """Return the runtime of its worker; None: the engine's own environment. A refusal if its reader is not
    installed.
    """
    return load_reader(engine, trainer.reader).runtime if trainer.in_readers_runtime else trainer.runtime


def is_here(engine: Engine, trainer: type[Trainer]) -> bool:
    """Return whether its runtime is installed."""
    asks = load_reader(engine, trainer.reader) if trainer.in_readers_runtime else trainer
    return engine.runtimes.missing(asks) is None


def require_runtime(engine: Engine, trainer: type[Trainer]) -> None:
    """Raise Conflict, saying how to install its runtime, if that is missing."""
    runtime = runtime_of(engine, trainer)
    if runtime is not None:
        engine.runtimes.python_of(runtime.name)


def trainer_named(engine: Engine, card: str, name: str | None = None) -> type[Trainer]:
    """Return the trainer of *card* called *name* (None: the first), with or without its runtime; Invalid
    lists the installed ones.
    """
    candidates = [trainer for trainer in trainers(engine) if trainer.card == card]
    chosen = next((candidate for candidate in candidates if name in (None, candidate.name)), None)
    if chosen is None:
        model_words = card if name is None else f"{card} models called {name!r}"
        raise errors.no_trainer(model_words, [trainer.name for trainer in trainers(engine)])
    return chosen


def trainer_of(engine: Engine, card: str, name: str | None = None) -> type[Trainer]:
    """Like `trainer_named`, but the first whose runtime is installed; Conflict says how to install that of the
    first one.
    """
    if name is None:
        candidates = [trainer for trainer in trainers(engine) if trainer.card == card]
        name = next((candidate.name for candidate in candidates if is_here(engine, candidate)), None)
    chosen = trainer_named(engine, card, name)
    require_runtime(engine, chosen)
    return chosen
