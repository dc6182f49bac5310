"""Trained detectors of regions: the driver group, and where their models are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from armarium.api import Engine, Library, NameOrMaterialPath
from armarium_layout import errors

GROUP = "armarium.detectors"
STORE = "layout"
"""The folder of their models, among the models of the project and of this machine."""
CONFIG = "config.json"


class Detector:
    """The base of every driver that finds regions with a model; its worker answers `find_regions`.

    The worker is given `model` (the path of the model's config.json), `image`, `max_pixels` and `at_least`,
    the least confidence (None: what suits the model), and answers {regions[] {class, rect, score}}: rects in
    fractions of the page, most confident first.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    worker: ClassVar[str]
    """The worker, as `module:class`."""
    runtime: ClassVar[Any] = None
    """The runtime it needs; None: the engine's own environment."""
    model_types: ClassVar[frozenset[str]] = frozenset()
    """The values of `model_type` in the config.json of its models."""


def model_type(config: Path) -> str | None:
    """Return the model_type of a model's config.json; None if it cannot be read."""
    try:
        configuration = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    stated_type = configuration.get("model_type") if isinstance(configuration, dict) else None
    return stated_type if isinstance(stated_type, str) else None


def models_here(engine: Engine, library: Library) -> dict[str, Path]:
    """Return the detectors' models by name, each with its config.json; the project's take precedence over
    this machine's.
    """
    models: dict[str, Path] = {}
    for folder in (library.models / STORE, engine.settings.state_dir / "models" / STORE):
        for config in sorted(folder.glob(f"*/{CONFIG}")):
            if config.resolve().is_relative_to(folder.resolve()):
                models.setdefault(config.parent.name, config)
    return models


def detector_of(
    engine: Engine, library: Library, model: NameOrMaterialPath
) -> tuple[type[Detector], Path, str]:
    """Return a detector that accepts *model* and can run here, the model's config.json, and its name.
    NotFound, Invalid, Conflict.

    *model* is a name, or the full path of a config.json on this machine, checked when it was named.
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
    able = [detector for detector in engine.drivers.usable(GROUP) if kind in detector.model_types]
    if not able:
        raise errors.no_detector(name, kind)
    chosen = next((detector for detector in able if engine.runtimes.missing(detector) is None), able[0])
    if chosen.runtime is not None:
        engine.runtimes.python_of(chosen.runtime.name)
    return chosen, config, name
