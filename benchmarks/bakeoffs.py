"""Row 43: a bake-off of readers against the same readers bare, on the same lines, models loaded on both sides."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library, new_id
from benchmarks import bench_readers
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

PAGES, A_PAGE = 6, 50
SIZE = (1400, 2400)
PATIENCE = 900.0
ANSWERS = {"purposes": ["transcribe"], "languages": ["fr"], "scripts": ["Latn"], "materials": ["print"]}
RECIPE = {
    "id": "letters",
    "title": "Letters",
    "steps": [{"id": "read", "job": "read-a-line", "layer": "reading"}],
}


def measure(rounds: int) -> list[Result]:
    """Measure the seconds from the request to the ranked table; the bare readers decode the pages and read the lines."""
    from armarium_reading.api import READERS
    from armarium_recipes.actions.bakeoffs import begin_bakeoff
    from armarium_recipes.schemas.bakeoffs import StartBakeoff
    from armarium_worker import LineShape

    with (
        scratch_folder() as folder,
        running_engine(folder, jobs=True, compute_priority="fast") as (engine, library),
    ):
        for one in bench_readers.READERS:
            engine.drivers.give(READERS, one.name, one)
        engine.run(library, "project.save_setup", {"answers": ANSWERS, "recipe": RECIPE}, OWNER)
        rng = random.Random(43)
        pages = [_page(engine, library, rng) for _ in range(PAGES)]
        scored: list[int] = []

        def ours() -> float:
            def run() -> None:
                _, begun = begin_bakeoff(engine, library, OWNER, StartBakeoff())
                state = engine.jobs.wait(library, begun["id"], PATIENCE)
                if state != "done":
                    raise RuntimeError(f"the bake-off ended {state}")
                scored.append(_count_scored(engine, library, begun["id"]))

            return seconds(run)

        readers = [kind(model=None, threads=os.cpu_count() or 1) for kind in bench_readers.READERS]
        for reader in readers:
            reader.load()

        def theirs() -> float:
            def run() -> None:
                for reader in readers:
                    for path, rects in pages:
                        page = reader.open_page(path, 100_000_000)
                        lines = [
                            LineShape((x * SIZE[0], y * SIZE[1], w * SIZE[0], h * SIZE[1]))
                            for x, y, w, h in rects
                        ]
                        assert len(list(reader.read_lines(page, lines))) == len(rects)

            return seconds(run)

        found = compare(
            43,
            f"a bake-off of {len(readers)} readers on {PAGES * A_PAGE} lines",
            engine=ours,
            peer=theirs,
            peer_name="the same readers bare",
            unit="s",
            rounds=rounds,
            limit=1.1,
        )
        if set(scored) != {len(readers)}:
            raise RuntimeError(f"{len(readers)} readers were to be scored, and {sorted(set(scored))} were")
        return [found]


def _page(engine: Engine, library: Library, rng: random.Random) -> tuple[Path, list[list[float]]]:
    """Return a page of generated words with its lines as ground truth: the picture's file, and the shapes of
    its lines.
    """
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", SIZE, 235)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(26)
    lines: list[dict[str, Any]] = []
    for row in range(A_PAGE):
        text = " ".join(
            "".join(rng.choice("aeioulmnrstdp") for _ in range(rng.randint(2, 9))) for _ in range(11)
        )
        top = 40 + row * 46
        pen.text((60, top + 4), text, 40, font)
        rect = [50 / SIZE[0], top / SIZE[1], 1300 / SIZE[0], 42 / SIZE[1]]
        lines.append({"key": str(row), "rect": rect, "text": text})
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    checksum = library.objects.put_bytes(file.getvalue())
    picture = {"checksum": checksum, "mime_type": "image/jpeg", "size_bytes": file.tell(),
               "pixel_width": SIZE[0], "pixel_height": SIZE[1]}  # fmt: skip
    page_id = new_id()
    box = _do(engine, library, "document.create", {"name": "Box"})["id"]
    node = {"id": page_id, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.jpg"}
    _do(engine, library, "document.add_files", {"nodes": [{**node, "picture": picture}]})
    taken = {
        "document_id": page_id,
        "name": "Checked",
        "provider": "sample",
        "model": "sample",
        "lines": lines,
    }
    made = _do(engine, library, "segment.take_lines", taken)
    _do(engine, library, "segment.pass_ground_truth", {"pass_id": made["pass_id"], "ground_truth": True})
    return Path(library.objects.path(checksum)), [line["rect"] for line in lines]


def _count_scored(engine: Engine, library: Library, bakeoff_id: str) -> int:
    from armarium_recipes.queries.bakeoffs import read_bakeoff

    with library.db.read() as conn:
        return sum(
            candidate["cer"] is not None
            for candidate in read_bakeoff(conn, engine, library, bakeoff_id)["candidates"]
        )


def _do(engine: Engine, library: Library, name: str, params: dict[str, Any]) -> dict[str, Any]:
    return engine.run(library, name, params, OWNER).result or {}
