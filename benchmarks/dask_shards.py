"""Row 31, dask: how well one and two workers on this machine are used, and the cost of an empty shard.

Needs ``pip install 'armarium-training[dask]'`` and reports when it is missing. ARMARIUM_BENCH_SHARDS sets how
many empty shards are sent (1,000; 10,000 is the full figure).
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from armarium.api import Engine, Library, new_id
from armarium_demo.samples import manuscript_page
from benchmarks.harness import Result
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.reading_hands import draw_lines, import_pages
from benchmarks.waiting_reader import WAITS, Waiting

SHARDS = 6
PAGES = 8
"""Pages that are really read, two per shard."""
PATIENCE = 3_600.0


def measure(rounds: int) -> list[Result]:
    """Measure the share of its workers' time that a run uses, once; and the time of an empty shard."""
    if importlib.util.find_spec("distributed") is None:
        print("dask_shards: dask is not installed (pip install 'armarium-training[dask]').", file=sys.stderr)
        return []
    with scratch_folder() as folder:
        (folder / "pages").mkdir()
        pages = [manuscript_page(seed) for seed in range(1, PAGES + 1)]
        for number, page in enumerate(pages, 1):
            (folder / "pages" / f"{number:02}.jpg").write_bytes(page.jpeg)
        with running_engine(folder, jobs=True, compute_priority="fast") as (engine, library):
            engine.drivers.give("armarium.readers", Waiting.name, Waiting)
            ids = import_pages(engine, library, folder / "pages")
            found = [_waiting(engine, library, ids, workers) for workers in (1, 2)]
            for identity, page in zip(ids, pages, strict=True):
                draw_lines(engine, library, identity, page)
            found.append(_reading(engine, library, ids))
            return [*found, _empty(engine, library, ids[0])]


def _run(engine: Engine, library: Library, pages: list[str], card: str, workers: int, size: int) -> float:
    """Return the seconds of a reading at scale, including the start and end of the cluster."""
    begun = time.perf_counter()
    given = {"scope_ids": pages, "card": card, "flavor": f"dask:local:{workers}", "shard_size": size}
    started = engine.run(library, "reading.start_at_scale", {**given, "max_in_flight": 500}, OWNER).result
    state = engine.jobs.wait(library, (started or {})["job_id"], PATIENCE)
    if state != "done":
        raise RuntimeError(f"the reading at scale ended {state}")
    return time.perf_counter() - begun


def _waiting(engine: Engine, library: Library, pages: list[str], workers: int) -> Result:
    spent = _run(engine, library, pages[:SHARDS], "waiting", workers, 1)
    used = SHARDS * WAITS / workers
    return Result(
        31,
        f"{SHARDS} shards that wait {WAITS:.0f} s each, on {workers} dask worker{'s' * (workers > 1)}: share of the time made use of",
        "s",
        spent,
        used,
        "waiting alone",
        used / spent,
        "at least",
        0.85,
        note="the cluster's start and end are in it",
    )


def _reading(engine: Engine, library: Library, pages: list[str]) -> Result:
    one, two = (_run(engine, library, pages, "hand", workers, 2) for workers in (1, 2))
    return Result(
        31,
        f"{PAGES} manuscript pages really read in shards of 2: two dask workers over one",
        "s",
        two,
        one,
        "one worker",
        two / one,
        note=f"{os.cpu_count()} cores in all; the cluster's start and end are in it",
    )


def _answer_empty(code: bytes, cargo: bytes, python: str, seconds: float) -> tuple[str, list[str]]:
    """Return what a worker answers for an empty shard."""
    import json

    return json.dumps({"number": int(cargo or b"0"), "pages": {}}), []


def _empty(engine: Engine, library: Library, page: str) -> Result:
    from armarium_far_worker import cluster
    from armarium_training import compute_dask
    from armarium_training.compute import Shard
    from armarium_training.jobs import scale
    from armarium_training.packing import PackedShard, shard_folder
    from armarium_training.shipping import Cargo

    count = int(os.environ.get("ARMARIUM_BENCH_SHARDS", "1000"))

    def pack_nothing(job: Any, number: int, page_ids: Sequence[str], use: str) -> PackedShard:
        manifest = {"number": number, "driver": "hand", "pages": [], "model_name": "hand"}
        return PackedShard(Shard(number, shard_folder(job, number), manifest), "0" * 64)

    def carry_nothing(_: Engine, shard: Shard) -> Cargo:
        return Cargo({"number": shard.number}, {}, {})

    def number_alone(task: dict[str, Any], files: dict[str, Path], target: Path) -> bytes:
        return str(task["number"]).encode()

    with (
        patch.object(scale, "pack", pack_nothing),
        patch.object(compute_dask, "cargo_of", carry_nothing),
        patch.object(compute_dask, "_pack_shard", number_alone),
        patch.object(cluster, "do_shard", _answer_empty),
        patch("armarium_training.actions.scale.pages_of", lambda *_: [new_id() for _ in range(count)]),
    ):
        used = time.process_time()
        spent = _run(engine, library, [page], "hand", 2, 1)
        used = time.process_time() - used
    return Result(
        31,
        f"{count:,} empty shards on two dask workers: sent, asked for, taken",
        "ms a shard",
        1000 * spent / count,
        1000.0,
        "a second a shard",
        spent / count,
        note=f"{1000 * used / count:.1f} ms of the engine's processor",
    )
