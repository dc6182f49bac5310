"""The files of trained models: one file next to its card, or a folder; copied completely or not at all,
hidden by an undo.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from armarium_training import cards, errors
from armarium_training.whole_files import writing

UNDONE = ".undone"


def copy_file(source: Path, target: Path) -> None:
    """Copy a file atomically; Conflict if the disk is full."""
    with source.open("rb") as file, writing(target) as beside, beside.open("wb") as out:
        shutil.copyfileobj(file, out)
        out.flush()
        os.fsync(out.fileno())


def copy_folder(source: Path, target: Path) -> None:
    """Like `copy_file`, for a folder with all its contents; links are not followed."""
    beside = target.with_name(f"{target.name}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(source, beside, ignore=_links)
        shutil.rmtree(target, ignore_errors=True)
        os.replace(beside, target)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        raise errors.no_room(target.name, error.strerror or type(error).__name__) from error


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if os.path.islink(os.path.join(folder, name))]


def copy_model(weights: Path, folder: Path, name: str) -> Path:
    """Copy the model at *weights* into *folder* under *name*: its file, or the folder of its config.json."""
    if weights.name == cards.CONFIG:
        copy_folder(weights.parent, folder / name)
        return folder / name / cards.CONFIG
    target = folder / f"{name}{weights.suffix}"
    copy_file(weights, target)
    return target


def remove_model(weights: Path) -> None:
    """Remove a copy of a model."""
    if weights.name == cards.CONFIG:
        shutil.rmtree(weights.parent, ignore_errors=True)
    else:
        weights.unlink(missing_ok=True)


def hide_model(models: Path, model_id: str, *, shown: bool) -> None:
    """Hide the files of a model in a project's *models*, or show them again, so that an undo loses no training."""
    for path in _files_of(models, model_id):
        bare = path.name.removesuffix(UNDONE)
        os.replace(path, path.with_name(bare if shown else f"{bare}{UNDONE}"))


def has_files(models: Path, model_id: str) -> bool:
    """Return whether a model's card and its weights are there, hidden or not."""
    names = {path.name.removesuffix(UNDONE) for path in _files_of(models, model_id)}
    card = f"{cards.file_name(model_id)}{cards.CARD}"
    return card in names and len(names) > 1


def _files_of(models: Path, model_id: str) -> list[Path]:
    name = cards.literal(cards.file_name(model_id))
    # A folder is recognised as a model by its config.json.
    return [*models.glob(f"*/{name}.*"), *models.glob(f"*/{name}/{cards.CONFIG}*")]
