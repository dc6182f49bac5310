"""Detectors of regions that were trained: the driver group, and where their models lie."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from armarium.api import Engine, Library, NameOrMaterialPath, ServiceError
from armarium_layout import errors

GROUP = "armarium.detectors"
STORE = "layout"
"""The folder of their models, in the project's models and in this machine's."""
CONFIG = "config.json"


class Detector:
    """The base of every driver that finds regions with a model; its worker answers `find_regions`.

    It is given `model` (the path of the model's config.json), `image`, `max_pixels` and `at_least`, how sure it is to be
    (None: what suits the model), and answers {regions[] {class, rect, score}}: rects in fractions of the page, the surest first.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    worker: ClassVar[str]
    """`module:class` of its worker."""
    runtime: ClassVar[Any] = None
    """The runtime it needs; None: the engine's own environment."""
    model_types: ClassVar[frozenset[str]] = frozenset()
    """What the `model_type` of its models' config.json says."""


def check_detector(group: str, name: str, driver: object) -> str | None:
    """Why what is installed under *name* is no detector of that name; None when it is one."""
    if not (isinstance(driver, type) and issubclass(driver, Detector)):
        return "It is no class derived from Detector of armarium_layout."
    return None if driver.name == name else "It calls itself otherwise than it is installed."


def detectors(engine: Engine) -> list[type[Detector]]:
    """Every detector that loads, by name."""
    found = []
    for name in engine.drivers.names(GROUP):
        try:
            found.append(engine.drivers.load(GROUP, name))
        except ServiceError:
            continue
    return found


def model_type(config: Path) -> str | None:
    """What a model's config.json says it is of; None where it cannot be read."""
    try:
        told = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    found = told.get("model_type") if isinstance(told, dict) else None
    return found if isinstance(found, str) else None


def models_here(engine: Engine, library: Library) -> dict[str, Path]:
    """The detectors' models by name, each with its config.json; the project's own before this machine's."""
    found: dict[str, Path] = {}
    for folder in (library.models / STORE, engine.settings.state_dir / "models" / STORE):
        for config in sorted(folder.glob(f"*/{CONFIG}")):
            if config.resolve().is_relative_to(folder.resolve()):
                found.setdefault(config.parent.name, config)
    return found


def detector_of(
    engine: Engine, library: Library, model: NameOrMaterialPath
) -> tuple[type[Detector], Path, str]:
    """The detector that takes *model* and can run here, the model's config.json, and its name. NotFound, Invalid, Conflict.

    *model* is a name, or the full path of a config.json of this machine, checked where it was named.
    """
    if os.path.isabs(model):
        config = model.real
        name = config.parent.name
        if config.name != CONFIG or not config.is_file():
            raise errors.unknown_detector(name, models_here(engine, library))
    else:
        here = models_here(engine, library)
        name = str(model)
        if name not in here:
            raise errors.unknown_detector(name, here)
        config = here[name]
    kind = model_type(config)
    able = [one for one in detectors(engine) if kind in one.model_types]
    if not able:
        raise errors.no_detector(name, kind)
    chosen = next((one for one in able if engine.runtimes.missing(one) is None), able[0])
    if chosen.runtime is not None:
        engine.runtimes.python_of(chosen.runtime.name)
    return chosen, config, name
