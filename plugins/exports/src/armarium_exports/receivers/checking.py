"""The validator: what is wrong with a folder written for a receiver, judged only by the files on disk."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armarium.api import ServiceError, image_info, parse_xml
from armarium_exports.receivers.items import check_items
from armarium_exports.receivers.mets import METS, XLINK
from armarium_exports.receivers.profiles import Profile

_LAYOUT = (".xml",)


def check_written(profile: Profile, folder: Path) -> list[str]:
    """Return each breach of the profile's rules as a sentence; none for a folder that the receiver can open."""
    if profile.table:
        return check_items(folder, profile)
    layouts = [path for path in sorted((folder / profile.layouts).glob("*.xml")) if path.name != "mets.xml"]
    problems = [] if layouts else [f"There is no layout file in {profile.layouts or 'the folder'}."]
    for layout in layouts:
        problems += [f"{layout.name}: {problem}" for problem in _check_layout(profile, folder, layout)]
    names = [layout.name.casefold() for layout in layouts]
    problems += [f"Two files have the name {name}." for name in sorted(set(names)) if names.count(name) > 1]
    if profile.mets:
        problems += _check_mets(folder, layouts)
    if profile.zipped:
        problems += _check_zip(folder, layouts)
    return problems


def _check_layout(profile: Profile, folder: Path, layout: Path) -> Iterator[str]:
    try:
        root = parse_xml(layout.read_bytes(), name=layout.name)
    except ServiceError as refusal:
        yield refusal.detail
        return
    image_name, size = _page_of(root, profile.format)
    if not image_name:
        yield "it names no picture."
        return
    if profile.image_path == "name" and ("/" in image_name or "\\" in image_name):
        yield f"it names its picture by a path ({image_name}), not by its name."
    picture = (
        folder / image_name if profile.image_path == "from-root" else folder / profile.images / image_name
    )
    if not picture.is_file():
        yield f"its picture {image_name} does not exist."
        return
    if picture.stem != layout.stem:
        yield f"its picture has the name {picture.name}."
    try:
        picture_size = image_info(picture).upright_size
    except ServiceError as refusal:
        yield refusal.detail
        return
    if size != tuple(picture_size):
        yield f"its coordinates are for {size[0]} x {size[1]} pixels, but its picture has {picture_size[0]} x {picture_size[1]}."
    yield from _find_outside(root, size)


def _page_of(root: Any, format_name: str) -> tuple[str, tuple[int, int]]:
    if format_name == "alto":
        name = next((element.text for element in root.iter("{*}fileName")), None) or ""
        page = next(iter(root.iter("{*}Page")), None)
        keys = ("WIDTH", "HEIGHT")
    else:
        page = next(iter(root.iter("{*}Page")), None)
        name = "" if page is None else page.get("imageFilename") or ""
        keys = ("imageWidth", "imageHeight")
    size = (0, 0) if page is None else tuple(int(float(page.get(key) or 0)) for key in keys)
    return name.strip(), (size[0], size[1])


def _find_outside(root: Any, size: tuple[int, int]) -> Iterator[str]:
    """Return points of PAGE beyond the picture."""
    for element in root.iter("{*}Coords", "{*}Baseline"):
        for pair in (element.get("points") or "").split():
            x, _, y = pair.partition(",")
            if not (0 <= float(x) <= size[0] and 0 <= float(y or 0) <= size[1]):
                yield f"a point ({pair}) is outside the picture."
                return


def _check_mets(folder: Path, layouts: list[Path]) -> Iterator[str]:
    try:
        root = parse_xml((folder / "mets.xml").read_bytes(), name="mets.xml")
    except (OSError, ServiceError) as error:
        yield f"mets.xml cannot be read: {error}."
        return
    paths: dict[str, str] = {}
    for file in root.iter(f"{{{METS}}}file"):
        location = file.find(f"{{{METS}}}FLocat")
        path = "" if location is None else location.get(f"{{{XLINK}}}href") or ""
        paths[file.get("ID") or ""] = path
        if not (folder / path).is_file():
            yield f"mets.xml names {path}, which does not exist."
    pointed = {element.get("FILEID") or "" for element in root.iter(f"{{{METS}}}fptr")}
    for missing in sorted(pointed - paths.keys()):
        yield f"mets.xml points at {missing}, which it does not contain."
    for unused in sorted(paths.keys() - pointed):
        yield f"mets.xml contains {unused}, to which no page points."
    pictures = {folder / path for path in paths.values()}
    for layout in layouts:
        if layout not in pictures:
            yield f"mets.xml does not name {layout.name}."


def _check_zip(folder: Path, layouts: list[Path]) -> Iterator[str]:
    archives = list(folder.glob("*.zip"))
    if len(archives) != 1:
        yield "There is no zip of the layout files."
        return
    with zipfile.ZipFile(archives[0]) as archive:
        if sorted(archive.namelist()) != sorted(layout.name for layout in layouts):
            yield "The zip does not contain the layout files next to it."
