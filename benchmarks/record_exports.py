"""Row 36: records as JSON Lines and Parquet against bare writers over prepared rows, and line pictures against a bare
cutter.

`ARMARIUM_BENCH_SEGMENTS` and `ARMARIUM_BENCH_CROPS` say how many segments and line pictures.
"""

from __future__ import annotations

import io
import os
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from armarium.api import ActionContext, Engine, Library
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

SEGMENTS = int(os.environ.get("ARMARIUM_BENCH_SEGMENTS", "100000"))
CROPS = int(os.environ.get("ARMARIUM_BENCH_CROPS", "2000"))
"""1,000,000 and 20,000 are the full figures."""
A_PAGE = 500
LINES = 40
SIZE = (2000, 3000)
CHUNK = 50_000
"""Rows that the bare writers hold at a time: prepared rows of a million segments would take gigabytes."""


def measure(rounds: int) -> list[Result]:
    """Measure seconds of each, and the megabytes that an export adds."""
    with scratch_folder() as folder:
        (folder / "rows").mkdir()
        with running_engine(folder / "rows") as (engine, library):
            fill(engine, library)
            results = _records(engine, library, folder, min(rounds, 3))
        (folder / "pictures").mkdir()
        with running_engine(folder / "pictures") as (engine, library):
            picture = draw(engine, library)
            results.append(_pictures(engine, library, folder, picture, min(rounds, 3)))
        return results


def fill(engine: Engine, library: Library) -> None:
    """Create pages of A_PAGE lines, each of them read."""
    from armarium_source_model.api import (
        NewPass,
        NewReading,
        NewSegment,
        add_readings,
        add_segments,
        create_pass,
    )

    half = A_PAGE // 2
    new = [
        NewSegment(str(n), "line", [0.05 + 0.47 * (n // half), 0.02 + 0.96 * (n % half) / half, 0.42, 0.003])
        for n in range(A_PAGE)
    ]
    for number in range(-(-SEGMENTS // A_PAGE)):
        result = engine.run(library, "document.create", {"name": f"Page {number}", "doc_type": "page"}, OWNER)
        document = str((result.result or {})["id"])

        def write(ctx: ActionContext, document: str = document) -> None:
            pass_id = create_pass(ctx, NewPass(document, "Lines", provider="reader", model="sample"))
            ids = add_segments(ctx, pass_id, document, None, new)
            add_readings(
                ctx,
                [
                    NewReading(identity, "your letter has come to hand", producer_tool="reader")
                    for identity in ids
                ],
            )

        aside = {"name": "Beside", "doc_type": "page"}
        engine.run(library, "document.create", aside, OWNER, in_transaction=write)


def _records(engine: Engine, library: Library, folder: Path, rounds: int) -> list[Result]:
    from armarium_exports.bundles import write_jsonl, write_parquet
    from armarium_exports.records import ParquetParams, RecordsParams

    lines, bundle, bare = folder / "records.jsonl", folder / "bundle", folder / "bare"

    def params(kind: type[RecordsParams], place: Path) -> Any:
        # As the bus does: paths are checked before the action runs.
        parsed = kind.model_validate({"output_path": str(place), "overwrite": True})
        engine.paths.check(parsed, OWNER)
        return parsed

    def as_lines() -> float:
        return seconds(lambda: write_jsonl(engine, library, OWNER, params(RecordsParams, lines)))

    def as_parquet() -> float:
        return seconds(lambda: write_parquet(engine, library, OWNER, params(ParquetParams, bundle)))

    memory = [
        Result(
            36,
            f"{name} of {SEGMENTS:,} segments: memory",
            "MB",
            more,
            300.0,
            "allowed",
            more / 300.0,
            limit=1.0,
        )
        for name, more in (
            ("JSON Lines", _added_megabytes(as_lines)),
            ("Parquet", _added_megabytes(as_parquet)),
        )
    ]
    said = f"{SEGMENTS:,} segments with their readings"
    return [
        compare(36, f"{said} as JSON Lines", engine=as_lines, peer=lambda: _bare_lines(lines, bare),
                peer_name="orjson over ready rows", unit="s", rounds=rounds, limit=2.0),
        compare(36, f"{said} as Parquet", engine=as_parquet, peer=lambda: _bare_parquet(bundle, bare),
                peer_name="pyarrow over ready rows", unit="s", rounds=rounds, limit=2.0),
        *memory,
    ]  # fmt: skip


def _added_megabytes(work: Any) -> float:
    """Return the peak megabytes of the process while *work* runs, beyond those before."""
    work()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1e3


def _status(name: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return float(line.split()[1])


def _bare_lines(given: Path, place: Path) -> float:
    """Return the seconds of writing the same records from rows in memory, some at a time, and flushing the file."""
    spent = 0.0
    with given.open("rb") as source, place.open("wb") as file:
        rows: list[Any] = []

        def write() -> None:
            file.write(b"".join(orjson.dumps(row) + b"\n" for row in rows))

        for line in source:
            rows.append(orjson.loads(line))
            if len(rows) == CHUNK:
                spent += seconds(write)
                rows.clear()
        spent += seconds(write)
        file.flush()
        spent += seconds(lambda: os.fsync(file.fileno()))
    return spent


def _bare_parquet(given: Path, place: Path) -> float:
    """Return the seconds of building columns from rows in memory and writing them, for every file of a bundle."""
    import polars

    spent = 0.0
    for file in sorted(given.glob("*.parquet")):
        height = polars.scan_parquet(file).select(polars.len()).collect().item()
        for start in range(0, height, CHUNK):
            table = polars.scan_parquet(file).slice(start, CHUNK).collect()
            spent += seconds(partial(_write_rows, table.rows(named=True), place))
    return spent


def _write_rows(rows: list[dict[str, Any]], place: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), place, compression="zstd")


def draw(engine: Engine, library: Library, pages: int = -(-CROPS // LINES), scale: float = 1.0) -> Path:
    """Create pages of LINES lines with readings, all with the same picture, of six megapixels at a *scale* of 1; return
    the picture.
    """
    from PIL import Image, ImageDraw

    from armarium_source_model.api import (
        NewPass,
        NewReading,
        NewSegment,
        add_readings,
        add_segments,
        create_pass,
    )

    page = Image.new("RGB", SIZE, (236, 228, 210))
    pen = ImageDraw.Draw(page)
    for x in range(40, SIZE[0] - 40, 9):
        for row in range(LINES):
            pen.line((x, 70 + 70 * row, x + 4, 70 + 70 * row + 40), fill=(50, 40, 30), width=3)
    page = page.resize((round(SIZE[0] * scale), round(SIZE[1] * scale)))
    file = io.BytesIO()
    page.save(file, "JPEG", quality=90)
    checksum = library.objects.put_bytes(file.getvalue())
    picture = {"checksum": checksum, "mime_type": "image/jpeg", "size_bytes": file.tell(),
               "pixel_width": page.width, "pixel_height": page.height}  # fmt: skip
    box = (engine.run(library, "document.create", {"name": "Box"}, OWNER).result or {})["id"]
    new = [NewSegment(str(n), "line", _rect(n)) for n in range(LINES)]
    for number in range(1, pages + 1):
        node = {"id": f"{number:032x}", "parent_id": box, "doc_type": "file", "file_type": "image",
                "name": f"{number:05}.jpg", "picture": picture}  # fmt: skip

        def write(ctx: ActionContext, document: str = node["id"]) -> None:
            pass_id = create_pass(ctx, NewPass(document, "Lines", provider="reader", model="sample"))
            ids = add_segments(ctx, pass_id, document, None, new)
            add_readings(
                ctx,
                [
                    NewReading(identity, "your letter has come to hand", producer_tool="reader")
                    for identity in ids
                ],
            )

        engine.run(library, "document.add_files", {"nodes": [node]}, OWNER, in_transaction=write)
    return library.objects.path(checksum)


def _rect(number: int) -> list[float]:
    return [0.02, (65 + 70 * number) / SIZE[1], 0.95, 50 / SIZE[1]]


def _pictures(engine: Engine, library: Library, folder: Path, picture: Path, rounds: int) -> Result:
    """Return rates: the file is written by line_pictures.py alone, without the records beside it."""
    from PIL import Image

    from armarium_exports.line_pictures import QUALITY, write_line_pictures
    from armarium_exports.selection import select_documents

    pages = -(-CROPS // LINES)
    place = folder / "line_picture.parquet"

    def ours() -> float:
        with library.db.read() as conn:
            selection = select_documents(library, conn, OWNER)
        return pages * LINES / seconds(lambda: write_line_pictures(engine, library, selection, place))

    def bare() -> float:
        def cut() -> None:
            with (folder / "cuts").open("wb") as file:
                for _ in range(pages):
                    with Image.open(picture) as image:
                        image.load()
                        for number in range(LINES):
                            x, y, w, h = _rect(number)
                            box = (
                                int(x * SIZE[0]),
                                int(y * SIZE[1]),
                                int((x + w) * SIZE[0]),
                                int((y + h) * SIZE[1]),
                            )
                            held = io.BytesIO()
                            image.crop(box).save(held, "JPEG", quality=QUALITY)
                            file.write(held.getvalue())

        return pages * LINES / seconds(cut)

    return compare(
        36,
        f"{pages * LINES:,} line pictures with readings as Parquet",
        engine=ours,
        peer=bare,
        peer_name="a bare cutter that holds each page decoded",
        unit="pictures/s",
        rounds=rounds,
        bound="at least",
        limit=0.5,
    )
