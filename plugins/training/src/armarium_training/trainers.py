"""Trainers: what makes a model out of lines. Each is a driver; its work is done by a worker in a runtime of its own."""

from __future__ import annotations

from typing import ClassVar

from armarium.api import Engine, ServiceError
from armarium_reading.api import Runtime
from armarium_training import errors

GROUP = "armarium.trainers"
TORCH = Runtime(
    name="hand-trainer",
    package="armarium_hand_trainer",
    requirements="requirements.txt",
    probe="torch",
    summary="PyTorch 2.13 for this processor: trains the hand reader further on lines you corrected.",
    size_mb=900,
)


class Trainer:
    """The base of every trainer driver: class attributes alone; its worker answers `epoch` and `finish`.

    A line trainer's worker is given a `folder` with `lines.json` ({"lines": [{text, width, for_validation}]}) and
    `pictures.bin` (the pictures that the reader's worker answers to `line_pictures`, one after the other), the answer
    of the reader's `base` as `base` (none: from nothing), and `batch_size`. `epoch` does the epoch of number `epoch` unless
    it is done, and answers {epoch, loss, cer, lines, seconds, best, device, threads, peak_memory_mb, added_memory_mb};
    killed at any instant and asked again it goes on from its last whole epoch. `finish` answers {model}, the path of the file
    with the best epoch's weights.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    card: ClassVar[str] = "linereader"
    """What it trains: linereader or regions."""
    worker: ClassVar[str]
    """`module:class` of its worker."""
    runtime: ClassVar[Runtime | None] = None
    reader: ClassVar[str]
    """The reader that its models are of, whose worker answers `line_pictures` and `base`."""
    suffix: ClassVar[str] = ".onnx"


class HandTrainer(Trainer):
    """Trains the hand reader's model further, or one like it from nothing."""

    name = "hand"
    label = "Trainer of the hand reader"
    worker = "armarium_hand_trainer.trainer:HandTrainer"
    runtime = TORCH
    reader = "hand"


def check_trainer(name: str, driver: object) -> str | None:
    """Why what is installed under *name* is no trainer of that name; None when it is one."""
    if not (isinstance(driver, type) and issubclass(driver, Trainer)):
        return "It is no class derived from Trainer of armarium_training."
    return None if driver.name == name else "It calls itself otherwise than it is installed."


def trainers(engine: Engine) -> list[type[Trainer]]:
    """Every trainer that loads, by name."""
    found = []
    for name in engine.drivers.names(GROUP):
        try:
            found.append(engine.drivers.load(GROUP, name))
        except ServiceError:
            continue
    return found


def trainer_of(engine: Engine, card: str, name: str | None = None) -> type[Trainer]:
    """The trainer of *card* called *name* (None: the first); Invalid names what there is, Conflict how to install it."""
    there = [one for one in trainers(engine) if one.card == card]
    found = next((one for one in there if name in (None, one.name)), None)
    if found is None:
        what = card if name is None else f"{card} models called {name!r}"
        raise errors.no_trainer(what, [one.name for one in trainers(engine)])
    if found.runtime is not None:
        engine.runtimes.python_of(found.runtime.name)
    return found
