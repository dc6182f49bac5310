"""Chooses the reader and model file for a piece of work, or refuses with a reason before any job is created."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarium.api import Engine, Invalid, Library, NameOrMaterialPath, ServiceError, replacing
from armarium_reading import errors
from armarium_reading.finders import FINDERS
from armarium_worker import Reader, Refused, Transcriber

GROUP = "armarium.readers"
TRANSCRIBERS = "armarium.transcribers"
LINEREADER = "linereader"
"""The name under which recipes and runs choose whichever line reader has the model that they name."""
LINE_READERS = ("kraken", "hand")
"""Our readers that go by that name, the one that is tried first first; a reader of another maker does whose models are of that kind."""
NOTE = ".source.json"
"""Beside a downloaded model: where it came from and under which licence."""
DOING = {
    "find_lines": "find lines",
    "read_lines": "read given lines",
    "read_page": "read whole pages",
    "align_lines": "say where letters stand",
}


def worker_of(reader: type[Reader]) -> tuple[str | None, str]:
    """Return the runtime that a reader's worker needs (None: the engine's own interpreter), and its `module:class`."""
    return reader.runtime.name if reader.runtime else None, f"{reader.__module__}:{reader.__qualname__}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A reader that can do the work here, and the model it uses."""

    reader: type[Reader]
    model_path: Path | None
    model_name: str
    """The model's name in passes, readings and the ledger: never a path on this machine."""

    @property
    def target(self) -> str:
        """Return `module:class`, with which a worker process is started."""
        return worker_of(self.reader)[1]

    @property
    def calibration(self) -> Sequence[tuple[float, float]]:
        """Return the table that makes its confidence comparable: of the model, if it was measured here, else of the reader;
        empty if there is none.
        """
        own = calibration_of(self.model_path) if self.model_path else None
        return self.reader.calibration if own is None else own["table"]

    @property
    def runtime(self) -> str | None:
        """Return the runtime its worker needs; None: the engine's own interpreter."""
        return worker_of(self.reader)[0]

    def params(self, language: str | None, max_pixels: int) -> dict[str, Any]:
        """Return the parameters that every call of this reader contains."""
        model = str(self.model_path) if self.model_path else None
        return {"model": model, "language": language, "max_pixels": max_pixels}


def load_reader(engine: Engine, name: str) -> type[Reader]:
    """Return the reader class *name*; NotFound names the installed ones, Invalid if it is not a reader."""
    driver = engine.drivers.load(GROUP, name)
    if not (isinstance(driver, type) and issubclass(driver, Reader)):
        raise Invalid(
            f"The driver {name} is not a Reader; its author must derive it from armarium_worker.Reader."
        )
    return driver


def readers(engine: Engine) -> list[type[Reader]]:
    """Return every reader that loads, by name."""
    loaded = []
    for name in engine.drivers.names(GROUP):
        try:
            loaded.append(load_reader(engine, name))
        except ServiceError:
            continue
    return loaded


def load_transcriber(engine: Engine, name: str) -> type[Transcriber]:
    """Return the transcriber class *name*; NotFound names the installed ones, Invalid if it is not a transcriber."""
    driver = engine.drivers.load(TRANSCRIBERS, name)
    if not (isinstance(driver, type) and issubclass(driver, Transcriber)):
        raise errors.no_transcriber(name)
    return driver


def takers_of_models(engine: Engine) -> list[type[Reader]]:
    """Return every driver, of any family, that may use a model on this machine: readers, transcribers, embedders."""
    drivers: list[type[Reader]] = readers(engine)
    groups = {group for plugin in engine.plugins.loaded for group in plugin.driver_groups} - {GROUP}
    for group in sorted(groups):
        drivers += [
            driver
            for driver in engine.drivers.usable(group)
            if isinstance(driver, type) and issubclass(driver, Reader)
        ]
    return drivers


def models_folder(engine: Engine, kind: str) -> Path:
    """Return the folder of this machine's model files of *kind*."""
    return engine.settings.state_dir / "models" / kind


def runtime_folder(engine: Engine, reader: type[Reader]) -> Path | None:
    """Return the folder of the reader's installed runtime; None if it has none or it is not installed."""
    if reader.runtime is None:
        return None
    try:
        installed = engine.runtimes.marker_of(reader.runtime) is not None
        return engine.runtimes.place_of(reader.runtime) if installed else None
    except ServiceError:
        return None


def is_line_reader(reader: type[Reader]) -> bool:
    """Return whether it is one of the readers that go by the name `linereader`."""
    return reader.name in LINE_READERS or reader.model_kind == LINEREADER


def choose(
    engine: Engine,
    library: Library | None,
    *,
    reader: str,
    method: str,
    model: NameOrMaterialPath | None = None,
    language: str | None = None,
) -> Choice:
    """Choose who does *method* (find_lines, read_lines, read_page); each refusal says what to do instead."""
    if reader == LINEREADER:
        return _choose_line_reader(engine, library, method, model, language)
    driver = load_reader(engine, reader)
    if method not in driver.can:
        able = [other.name for other in readers(engine) if method in other.can]
        raise errors.unsupported_method(driver.label, DOING[method], able)
    return settle_choice(engine, library, driver, method, model, language)


def who_finds_lines(
    engine: Engine, library: Library | None, reader: str | None, model: NameOrMaterialPath | None = None
) -> list[Choice]:
    """Return who may find the lines: the reader named, else those of `FINDERS` that are installed, ours first."""
    installed = engine.drivers.names(GROUP)
    names = [reader or FINDERS[0]] if reader or model else [name for name in FINDERS if name in installed]
    return [
        choose(engine, library, reader=name, method="find_lines", model=model)
        for name in names or FINDERS[:1]
    ]


def _choose_line_reader(
    engine: Engine,
    library: Library | None,
    method: str,
    model: NameOrMaterialPath | None,
    language: str | None,
) -> Choice:
    """Choose the line reader that has *model* and can work here; a card's id names the model of the card. If none can, the
    refusal of the first is raised.
    """
    card = re.fullmatch(rf"{LINEREADER}:(.+?)(?:@[^@/]*)?", model) if model else None
    # Only a name: a path is checked where it is named, and what stands in an id was not.
    is_name = card is not None and not os.path.isabs(card.group(1))
    model_name = NameOrMaterialPath(card.group(1)) if card is not None and is_name else model
    able = [reader for reader in readers(engine) if is_line_reader(reader) and method in reader.can]
    rank = {name: number for number, name in enumerate(LINE_READERS)}
    order = sorted(able, key=lambda reader: rank.get(reader.name, len(rank)))
    if model_name and os.path.isabs(model_name):
        # A file is read by the one that takes files of its kind.
        order.sort(key=lambda reader: not model_name.endswith(tuple(reader.model_suffixes)))
    first: ServiceError | None = None
    for candidate in order:
        try:
            return settle_choice(engine, library, candidate, method, model_name, language)
        except ServiceError as refusal:
            first = first or refusal
    raise first or errors.unsupported_method(
        LINEREADER, DOING[method], [reader.name for reader in readers(engine) if method in reader.can]
    )


def choose_transcriber(
    engine: Engine,
    library: Library | None,
    *,
    transcriber: str,
    model: NameOrMaterialPath | None = None,
    language: str | None = None,
) -> Choice:
    """Choose who transcribes recordings; each refusal says what to do instead."""
    driver = load_transcriber(engine, transcriber)
    return settle_choice(engine, library, driver, "transcribe", model, language)


def settle_choice(
    engine: Engine,
    library: Library | None,
    driver: type[Reader],
    method: str,
    model: NameOrMaterialPath | None,
    language: str | None,
) -> Choice:
    """Return *driver* with its model for *method* (a reader's, `transcribe`, `embed`), if it can run here."""
    if why := driver.why_not(language):
        raise errors.not_for_language(why)
    if driver.runtime is not None:
        engine.runtimes.python_of(driver.runtime.name)
    path = (
        find_model(engine, library, driver, model)
        if model
        else _default_model(engine, driver, method, language)
    )
    return Choice(driver, path, name_of(driver, path))


def model_note(path: Path) -> dict[str, Any]:
    """Return where the model at *path* was downloaded from (source_id, source_url, title, licence); empty if it was
    not.
    """
    try:
        note = json.loads(Path(f"{path}{NOTE}").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def calibration_of(path: Path) -> dict[str, Any] | None:
    """Return what was measured of the confidence of the model at *path* ({table, lines, cer, measured_at}); None if nothing
    was, or a person damaged the note.
    """
    calibration: Any = model_note(path).get("calibration")
    try:
        table = [(float(sure), float(share)) for sure, share in calibration["table"]]
        cer = float(calibration["cer"])
    except (TypeError, KeyError, ValueError):
        return None
    return {**calibration, "table": table, "cer": cer} if table and table == sorted(table) else None


def note_calibration(path: Path, calibration: Mapping[str, Any]) -> None:
    """Write beside the model at *path* what was measured of its confidence; the newest measurement counts."""
    write_note(path, {**model_note(path), "calibration": dict(calibration)})


def write_note(path: Path, note: Mapping[str, Any]) -> None:
    """Write what is known of the model at *path* beside it, whole or not at all."""
    with replacing(Path(f"{path}{NOTE}")) as beside:
        beside.write_text(json.dumps(note, ensure_ascii=False), "utf-8")


def name_of(reader: type[Reader], path: Path | None) -> str:
    """Return the name of the model at *path*; the reader's own name if it has no model."""
    if path is None:
        return reader.name
    return path.parent.name if reader.model_is_folder else path.name


def find_model(
    engine: Engine, library: Library | None, reader: type[Reader], model: NameOrMaterialPath
) -> Path | None:
    """Return the file of *model*: one of the project's own, one on this machine, or a full path, checked when
    it was named.

    None for a model that is part of the reader's package, which is used if none is named.
    """
    if reader.model_kind is None:
        raise errors.takes_no_model(reader.label)
    if Path(model).is_absolute():
        if os.path.isfile(model.real):
            return model.real
        raise errors.no_such_model(model.real.name, reader.model_kind, [])
    folder = models_folder(engine, reader.model_kind)
    places = [library.models / reader.model_kind, folder] if library is not None else [folder]
    for place in places:
        joint = "/" if reader.model_is_folder else ""
        for name in (model, *(f"{model}{joint}{suffix}" for suffix in reader.model_suffixes)):
            path = place / name
            # Not `Path.is_file`, which fails at a name longer than a file can have.
            if os.path.isfile(path) and path.resolve().is_relative_to(place.resolve()):
                return path
    here = {file.model: file for file in reader.models_here(folder, runtime_folder(engine, reader))}
    for file in here.values():
        if file.path is not None and model_note(file.path).get("source_id") == model:
            return file.path
    if model in here and (here[model].shipped or here[model].path is not None):
        return here[model].path
    raise errors.no_such_model(model, reader.model_kind, sorted(here))


def _default_model(engine: Engine, reader: type[Reader], method: str, language: str | None) -> Path | None:
    folder = models_folder(engine, reader.model_kind or reader.name)
    try:
        return reader.model_for(reading=method != "find_lines", language=language, folder=folder)
    except Refused as refusal:
        raise errors.model_needed(str(refusal)) from refusal
