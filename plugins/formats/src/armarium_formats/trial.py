"""Reads every file of a folder and writes a table of the results: `python -m armarium_formats.trial FOLDER
TABLE.csv`.

Columns: file, recognised as, version, pages, regions, lines, words, texts, notes, kept, losses, refused why,
seconds. Nothing is stored.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from armarium.api import ServiceError, image_info
from armarium_formats.batches.names import called_picture, is_companion
from armarium_formats.batches.pairing import PictureFile, Pictures
from armarium_formats.batches.staging import looks_like_picture
from armarium_formats.inspecting import inspect
from armarium_formats.mets.reader import read_mets, sniff_mets

if TYPE_CHECKING:
    from armarium.api import Engine


@dataclass
class Row:
    """The result for one file."""

    file: str
    recognised_as: str = ""
    version: str = ""
    pages: int = 0
    regions: int = 0
    lines: int = 0
    words: int = 0
    texts: int = 0
    notes: str = ""
    kept: str = ""
    losses: str = ""
    refused_why: str = ""
    seconds: float = 0.0


def trial(engine: Engine, folder: Path) -> Iterator[Row]:
    """Yield a row for each file in *folder* and below, in order of their names."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    heads = {path: path.open("rb").read(1024) for path in paths}
    picture_paths = {path for path in paths if looks_like_picture(heads[path])}
    pictures = Pictures(
        [picture for path in sorted(picture_paths) if (picture := _picture(path, folder)) is not None]
    )
    companions = [path for path in paths if is_companion(path.name)]
    for path in paths:
        row = Row(str(path.relative_to(folder)))
        start = time.perf_counter()
        try:
            _look(engine, path, folder, path in picture_paths, pictures, companions, row)
        except ServiceError as refusal:
            row.refused_why = refusal.detail
        row.seconds = round(time.perf_counter() - start, 3)
        yield row


def _picture(path: Path, folder: Path) -> PictureFile | None:
    try:
        info = image_info(path)
    except ServiceError:
        return None
    return PictureFile(str(path), path.relative_to(folder).parent.parts, path.name, info.upright_size)


def _look(
    engine: Engine,
    path: Path,
    folder: Path,
    is_picture: bool,
    pictures: Pictures,
    companions: list[Path],
    row: Row,
) -> None:
    place = path.relative_to(folder).parent.parts
    if is_picture or called_picture(path.name):
        info = image_info(path)
        row.recognised_as, row.pages = info.mime_type, info.frames
        return
    if is_companion(path.name):
        row.recognised_as = "class names"
        return
    data = path.read_bytes()
    if sniff_mets(data):
        row.recognised_as, row.pages = "mets", len(read_mets(data, path.name).pages)
        return
    hint = pictures.hint(place, path.name)
    beside = {
        companion.name: companion.read_bytes()
        for companion in companions
        if path.parent.is_relative_to(companion.parent)
    }
    report = inspect(
        engine, data, path.name, page_size=hint.size if hint is not None else None, companions=beside
    )
    row.recognised_as, row.version = report["format"], report["version"] or ""
    row.pages = len(report["pages"])
    for page in report["pages"]:
        row.regions += page["counts"]["region"]
        row.lines += page["counts"]["line"]
        row.words += page["counts"]["word"]
        row.texts += page["counts"]["readings"]
    row.notes = " | ".join(dict.fromkeys(note for page in report["pages"] for note in page["notes"]))
    row.kept = ", ".join(
        f"{part['count']} {part['what']}" for page in report["pages"] for part in page["kept"]
    )
    row.refused_why = " | ".join(page["refused"] for page in report["pages"] if page["refused"])
    row.losses = "; ".join(
        f"{written['format']}: "
        + (
            "INVALID " + written["problems"][0]
            if written["problems"]
            else ", ".join(f"{loss['count']} {loss['what']}" for loss in written["losses"]) or "none"
        )
        for written in report["losses"]
    )


def write_table(rows: Iterator[Row], target: Path) -> int:
    """Write the rows as CSV; return their number."""
    count = 0
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        for row in rows:
            writer.writerow(asdict(row))
            count += 1
    return count


def main(arguments: list[str]) -> int:
    """Run the command."""
    from armarium.api import Engine

    if len(arguments) != 2 or not Path(arguments[0]).is_dir():
        print("python -m armarium_formats.trial FOLDER TABLE.csv", file=sys.stderr)
        return 2
    count = write_table(trial(Engine(), Path(arguments[0])), Path(arguments[1]))
    print(f"{count} files examined; the table is {arguments[1]}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
