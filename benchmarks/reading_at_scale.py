"""Row 31, the engine's side: the bookkeeping of very many pages (queue and shard rows), and landing and its growth.

ARMARIUM_BENCH_SCALE_PAGES sets for how many pages the bookkeeping is simulated (20,000; 1,000,000 for the full figure):
every shard is packed, sent, polled and taken, without pictures and without pages in it. ARMARIUM_BENCH_LANDED_PAGES
sets after how many pages landing is measured (``300,3000``; ``10000,100000`` for the full figures).
"""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from armarium.api import ActionContext, Engine, Library, Params, Plugin, action, new_id
from benchmarks.harness import Result
from benchmarks.places import OWNER, running_engine, scratch_folder

SHARD = 50
LINES = 20
"""Lines of a landed page."""
LOOKED_AT = 100
"""Pages whose landing is timed."""
PATIENCE = 3_600.0


def measure(rounds: int) -> list[Result]:
    """Measure the bookkeeping time per page; and a landing after many pages over one after few. Taken once, not in
    rounds.
    """
    pages = int(os.environ.get("ARMARIUM_BENCH_SCALE_PAGES", "20000"))
    few, many = map(int, os.environ.get("ARMARIUM_BENCH_LANDED_PAGES", "300,3000").split(","))
    return [_bookkeeping(pages), *_landing(few, many)]


def _bookkeeping(pages: int) -> Result:
    from armarium_training.compute import GROUP, Compute, FarState, Shard
    from armarium_training.jobs import scale
    from armarium_training.packing import PackedShard, shard_folder
    from armarium_training.queries.job_rows import SCALE
    from armarium_training.schemas.scale import ScaleArgs

    class Bench(Compute):
        """A backend that answers at once."""

        name, label, is_here, seconds_between = "bench", "Bench", True, 0.0

        def submit(self, shard: Shard, attempt: int) -> str:
            return f"{shard.number}-{attempt}"

        def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
            return {
                far_id: FarState("done", None, [], {"number": int(far_id.partition("-")[0]), "pages": {}})
                for far_id in far_ids
            }

        def cancel(self, far_ids: Sequence[str]) -> None:
            return None

    class CountParams(Params):
        """How many pages."""

        count: int

    @action("bench.scale", params=CountParams, summary="Put a reading at scale into the queue.", result=None)
    def begin(ctx: ActionContext, p: CountParams) -> dict[str, Any]:
        args = ScaleArgs(
            card="hand",
            driver="hand",
            page_ids=[new_id() for _ in range(p.count)],
            place="bench",
            pass_name=None,
            language=None,
            shard_size=SHARD,
            longest=2000,
            flavor="bench:",
            timeout="2h",
            max_in_flight=500,
        )
        return {
            "job_id": ctx.enqueue(
                SCALE, args.model_dump(mode="json"), title="Bench", total=p.count, lane="local-model"
            )
        }

    def pack_empty(job: Any, number: int, page_ids: Sequence[str], use: str) -> PackedShard:
        folder = shard_folder(job, number)
        return PackedShard(Shard(number, folder, {"pages": [], "model_name": "hand"}), "0" * 64)

    plugin = Plugin(
        name="bench", summary="Reading at scale, measured.", prefixes=("bench",), actions=(begin,)
    )
    with (
        scratch_folder() as folder,
        patch.object(scale, "pack", pack_empty),
        running_engine(folder, [*_installed_plugins(), plugin], jobs=True, compute_priority="fast") as (
            engine,
            library,
        ),
    ):
        engine.drivers.give(GROUP, Bench.name, Bench)
        begun, used = time.perf_counter(), time.process_time()
        job_id = (engine.run(library, "bench.scale", {"count": pages}, OWNER).result or {})["job_id"]
        queued = time.perf_counter() - begun
        state = engine.jobs.wait(library, job_id, PATIENCE)
        spent, cpu = time.perf_counter() - begun, time.process_time() - used
        if state != "done":
            raise RuntimeError(f"the reading at scale ended {state}")
        asked = time.perf_counter()
        from armarium_training.queries.scale import read_scale

        with library.db.read() as conn:
            told = read_scale(conn, engine, library, job_id)
        asked = time.perf_counter() - asked
    shards = -(-pages // SHARD)
    assert told["counts"]["landed"] == shards, told["counts"]
    return Result(
        31,
        f"bookkeeping of {pages:,} pages in {shards:,} shards: queued, packed, sent, asked for, taken",
        "ms a shard",
        1000 * spent / shards,
        1000.0,
        "a second a shard",
        spent / shards,
        note=f"{spent:.1f} s in all ({cpu:.1f} s of processor), {queued:.1f} s until queued, its state read in {1000 * asked:.0f} ms",
    )


def _installed_plugins() -> list[Plugin]:
    from armarium_checking.plugin import armarium_plugin as checking
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_images.plugin import armarium_plugin as images
    from armarium_layout.plugin import armarium_plugin as layout
    from armarium_reading.plugin import armarium_plugin as reading
    from armarium_source_model.plugin import armarium_plugin as source_model
    from armarium_training.plugin import armarium_plugin as training

    return [documents(), source_model(), images(), layout(), reading(), checking(), training()]


def _landing(few: int, many: int) -> list[Result]:
    with (
        scratch_folder() as folder,
        running_engine(folder, _installed_plugins()) as (engine, library),
    ):
        picture = _picture(library)
        made = 0
        spent: list[float] = []
        for count in (few, many):
            while made < count:
                some = min(500, count - made)
                _land(engine, library, _pages(engine, library, picture, some))
                made += some
            last = _pages(engine, library, picture, LOOKED_AT)
            begun = time.process_time()
            _land(engine, library, last)
            spent.append((time.process_time() - begun) / LOOKED_AT)
            made += LOOKED_AT
        size = (library.path / "library.sqlite").stat().st_size
    return [
        Result(
            31,
            f"landing a page of {LINES} lines after {many:,} pages, over one after {few:,}",
            "s of processor",
            spent[1],
            spent[0],
            f"after {few:,} pages",
            spent[1] / spent[0],
            limit=1.5,
            note=f"the project's database then has {size / 2**20:,.0f} MB",
        )
    ]


def _picture(library: Library) -> dict[str, Any]:
    from PIL import Image

    file = io.BytesIO()
    Image.new("L", (200, 300), 235).save(file, "PNG")
    return {
        "checksum": library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": 200,
        "pixel_height": 300,
    }


def _pages(engine: Engine, library: Library, picture: dict[str, Any], count: int) -> list[str]:
    result = engine.run(library, "document.create", {"name": f"Box {new_id()}"}, OWNER).result or {}
    ids = [new_id() for _ in range(count)]
    nodes = [
        {
            "id": page,
            "parent_id": result["id"],
            "doc_type": "file",
            "file_type": "image",
            "name": f"{number}.png",
            "picture": picture,
        }
        for number, page in enumerate(ids)
    ]
    engine.run(library, "document.add_files", {"nodes": nodes}, OWNER)
    return ids


def _land(engine: Engine, library: Library, pages: Sequence[str]) -> None:
    for page in pages:
        lines = [
            {"rect": [20, 10 + 14 * row, 160, 10], "text": f"line {row} of a page", "confidence": 0.9}
            for row in range(LINES)
        ]
        given = {
            "document_id": page,
            "checksum": hashlib.sha256(page.encode()).hexdigest(),
            "name": "Read at scale",
            "provider": "hand",
            "model": "hand",
            "width": 200,
            "height": 300,
            "lines": lines,
        }
        engine.run(library, "training.land_page", given, OWNER)
