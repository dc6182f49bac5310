"""What plugin authors ask of the command line: `armarium plugins --check`, the trial of a folder, a wheel or an installed
distribution, and `--points`.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from armarium.engine_card import TRIAL_SECONDS
from armarium.errors import BadRequest, NotFound, ServiceError
from armarium.guard import check_archive, read_member
from armarium.plugins.offers import OURS, Offer, find_offers, normalise_name
from armarium.plugins.points import Point
from armarium.plugins.registry import find_plugins
from armarium.plugins.trial_processes import CannotTry, Examination, examine_offer
from armarium.plugins.verdicts import Trials


def describe_points() -> list[Point]:
    """Return the extension points of what is installed, with those who answer them."""
    return find_plugins(Trials.of_environment()).points.describe()


@dataclass
class CheckResult:
    """The result of the trial of one distribution; without faults, an engine loads all of it."""

    distribution: str
    brings: list[str] = field(default_factory=list)
    """Its entry points, each as `group:name`."""
    faults: list[dict[str, str]] = field(default_factory=list)
    """Each `{name, why}`."""


def check(target: str, *, seconds: float = TRIAL_SECONDS) -> CheckResult:
    """Try *target* (a folder with a pyproject.toml, a wheel, or the name of an installed distribution).

    Nothing is installed, and no project is touched.
    """
    place = Path(target).expanduser()
    with tempfile.TemporaryDirectory(prefix="armarium-check-", ignore_cleanup_errors=True) as folder:
        if place.is_dir():
            return _check_added([*_laid_out(place.resolve(), Path(folder))], None, seconds)
        if place.is_file():
            return _check_added([_unpack_wheel(place, Path(folder))], None, seconds)
        return _check_added([], target, seconds)


def _check_added(added: Sequence[str], name: str | None, seconds: float) -> CheckResult:
    path = [*added, *(place for place in sys.path if place)]
    if name is None:
        offered = find_offers(added)
        if not offered:
            raise NotFound(
                "Nothing there is offered to the engine: no entry point of a group such as armarium.plugins is named.",
                code="no_plugin",
            )
        target = offered[0]
    else:
        offers_by_key = {offer.key: offer for offer in find_offers()}
        if normalise_name(name) not in offers_by_key:
            offer_names = ", ".join(offer.name for offer in offers_by_key.values()) or "none"
            raise NotFound(
                f"There is no folder or wheel {name}, and no installed distribution of that name provides a plugin. "
                f"Installed: {offer_names}.",
                code="no_plugin",
            )
        target = offers_by_key[normalise_name(name)]
    checked = CheckResult(target.name, [f"{entry.group}:{entry.name}" for entry in target.entries])
    if target.fault is not None:
        checked.faults.append({"name": target.name, "why": target.fault})
        return checked
    beside = [offer for offer in find_offers() if offer.key != target.key and offer.fault is None]
    try:
        examined = examine_offer(target, beside, seconds, path)
    except CannotTry as error:
        raise ServiceError(f"The trial cannot be made here: {error}.", code="no_trial") from error
    checked.faults = _faults(target, examined)
    return checked


def _faults(target: Offer, examined: Examination) -> list[dict[str, str]]:
    faults = [{"name": name, "why": why} for name, why in examined.refused]
    faults += [
        {"name": unit.partition(":")[2], "why": why} for unit, why in examined.failed[target.key].items()
    ]
    faults += [{"name": name, "why": why} for name, why in examined.others]
    return [fault for number, fault in enumerate(faults) if fault not in faults[:number]]


def _laid_out(place: Path, folder: Path) -> list[str]:
    """Return the folders to add to the path for the source in *place*; the metadata from its pyproject.toml is written
    into *folder*.
    """
    if any(path.suffix in (".dist-info", ".egg-info") for path in place.iterdir()):
        return [str(place)]
    file = place / "pyproject.toml"
    if not file.is_file():
        raise BadRequest(
            f"{place.name} has no pyproject.toml; name the folder that has it, or a wheel.", code="no_plugin"
        )
    try:
        project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        name, groups = str(project["name"]), dict(project.get("entry-points", {}))
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
        ]
        needs = [f"Requires-Dist: {need}" for need in project.get("dependencies", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(
            f"The pyproject.toml of {place.name} cannot be used ({type(error).__name__}: {error}). It needs a table "
            "[project] with a name, and its entry points.",
            code="no_plugin",
        ) from error
    if not any(group.startswith(OURS) for group in groups):
        raise NotFound(
            f'{place.name} names no entry point of ours; a plugin is declared under [project.entry-points."armarium.plugins"].',
            code="no_plugin",
        )
    about = folder / f"{normalise_name(name).replace('-', '_')}-{project.get('version', '0')}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "\n".join(
            ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {project.get('version', '0')}", *needs, ""]
        ),
        encoding="utf-8",
    )
    (about / "entry_points.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return [str(folder), str(place / "src" if (place / "src").is_dir() else place)]


def _unpack_wheel(wheel: Path, folder: Path) -> str:
    members = check_archive(wheel)
    with zipfile.ZipFile(wheel) as archive:
        for member in members:
            path = folder / member.filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(read_member(archive, member))
    return str(folder)
