"""What is sent along with a shard so that it can be worked on elsewhere: the worker's code, its dependencies
and its model.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import armarium_far_worker
import armarium_worker
from armarium.api import Engine
from armarium_far_worker.work import digest_of
from armarium_reading.api import Runtime, load_reader, worker_of
from armarium_training.compute import Shard
from armarium_training.staging import CARD
from armarium_training.trainers import trainer_named

ALWAYS = (armarium_worker, armarium_far_worker)
WHEN = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the code that is sent, so that the same code gives the same bytes."""
TRAINER_FILES = ("lines.json", "pictures.bin", "base.onnx")

OURS = (*TRAINER_FILES, CARD, "manifest.json")
"""Files in a shard's folder that no result may replace."""


@dataclass(frozen=True)
class Cargo:
    """A shard ready to be sent: the task as JSON (its files still without locations), the files by name, the
    code's folders.
    """

    task: dict[str, Any]
    files: dict[str, Path]
    packages: dict[str, Path]


def cargo_of(engine: Engine, shard: Shard) -> Cargo:
    """Return what the worker of a shard's reader or trainer needs elsewhere."""
    manifest = dict(shard.manifest)
    if manifest.get("work") == "train":
        card = "vision-lora" if "rank" in manifest else "linereader"
        trainer = trainer_named(engine, card, manifest.get("trainer"))
        target, runtime = trainer.worker, trainer.runtime
        files = {name: shard.folder / name for name in TRAINER_FILES if (shard.folder / name).is_file()}
    else:
        reader = load_reader(engine, manifest["driver"])
        target, runtime = worker_of(reader)[1], reader.runtime
        files = {
            page["file"]: shard.folder / page["file"] for page in manifest["pages"] if "urls" not in page
        }
        model = manifest.pop("model", None)
        if model is not None:
            files |= _model_files(Path(model), reader.model_is_folder)
            manifest["model_file"] = f"model/{Path(model).name}"
    manifest.pop("skipped", None)
    top = target.partition(":")[0].partition(".")[0]
    task = {
        "target": target,
        "packages": [top],
        "requirements": requirements_of(top, runtime),
        "network": "repo" in (manifest.get("base") or {}),
        "manifest": manifest,
    }
    return Cargo(
        task,
        files,
        {top: _folder_of(top), **{module.__name__: _folder_of(module.__name__) for module in ALWAYS}},
    )


def _model_files(model: Path, is_folder: bool) -> dict[str, Path]:
    if not is_folder:
        return {f"model/{model.name}": model}
    paths = (path for path in model.parent.rglob("*") if path.is_file() and not path.is_symlink())
    return {f"model/{path.relative_to(model.parent).as_posix()}": path for path in paths}


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def requirements_of(package: str, runtime: Runtime | None) -> list[str]:
    """Return the packages that *package* needs: those of its runtime, else its distribution's requirements
    besides our own.
    """
    if runtime is not None:
        lines = (_folder_of(runtime.package) / runtime.requirements).read_text("utf-8").splitlines()
        return [line for line in lines if line and not line.startswith("#")]
    try:
        requirements = importlib.metadata.requires(package.replace("_", "-")) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [line for line in requirements if not re.match(r"armarium", line) and "extra ==" not in line]


def pack_code(packages: dict[str, Path], target: Path) -> str:
    """Write *packages* into one archive, the same bytes for the same code; return its SHA-256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, place in sorted(packages.items()):
            for path in sorted(_sources(place)):
                inside = f"{name}/{path.relative_to(place).as_posix()}" if place.is_dir() else f"{name}.py"
                archive.writestr(zipfile.ZipInfo(inside, WHEN), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return digest_of(target)


def _sources(place: Path) -> Iterable[Path]:
    if place.is_file():
        return [place]
    return [path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def sound_result(result: Any) -> dict[str, Any] | None:
    """Return a result that came back if it is valid: an object whose files are where they should be."""
    if not isinstance(result, dict):
        return None
    files = result.get("files", {})
    if not isinstance(files, dict):
        return None
    for name, digest in files.items():
        path = Path(str(name))
        if (
            path.is_absolute()
            or ".." in path.parts
            or str(name) in OURS
            or not re.fullmatch(r"[0-9a-f]{64}", str(digest))
        ):
            return None
    return result
