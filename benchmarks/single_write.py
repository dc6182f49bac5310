"""Row 1: one audited row, in process against bare sqlite3, over HTTP against a FastAPI route that writes it bare."""

from __future__ import annotations

from armarium.api import new_id, now
from benchmarks import bench_family as family
from benchmarks.harness import Result, compare, seconds
from benchmarks.http_load import requests_a_second
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder
from benchmarks.servers import bare_server, engine_server

WRITES = 400
REQUESTS = 400


def measure(rounds: int) -> list[Result]:
    """Measure both ratios, in seconds per write."""
    return [_in_process(rounds), _over_http(rounds)]


def _in_process(rounds: int) -> Result:
    with scratch_folder() as folder, running_engine(folder, [family.plugin()]) as (engine, library):
        bare = bare_database(folder / "bare.sqlite", *family.bare_table())

        def time_audited_write() -> float:
            return seconds(lambda: [_put(n) for n in range(WRITES)]) / WRITES

        def _put(number: int) -> object:
            return engine.run(
                library, "bench.put", {"text": f"line {number} of a page", "position": number}, OWNER
            )

        def plain() -> float:
            return seconds(lambda: [_write(n) for n in range(WRITES)]) / WRITES

        def _write(number: int) -> object:
            bare.execute("BEGIN IMMEDIATE")
            bare.execute(
                family.INSERT,
                family.row_of(new_id(), family.PLACE, number, f"line {number} of a page", now()),
            )
            return bare.execute("COMMIT")

        result = compare(
            1,
            "audited single-row action, in process",
            engine=time_audited_write,
            peer=plain,
            peer_name="bare sqlite3 (WAL, FULL)",
            unit="s a write",
            rounds=rounds,
            limit=4.0,
        )
        bare.close()
        return result


def _over_http(rounds: int) -> Result:
    body = b'{"text": "a line of a page", "position": 7}'
    with scratch_folder() as folder, engine_server(folder) as ours, bare_server(folder) as theirs:
        return compare(
            1,
            "audited single-row action, over HTTP",
            engine=lambda: 1 / requests_a_second(ours, "POST", "/api/bench/items", body, count=REQUESTS),
            peer=lambda: 1 / requests_a_second(theirs, "POST", "/items", body, count=REQUESTS),
            peer_name="FastAPI route with the bare write",
            unit="s a request",
            rounds=2 * rounds,
            limit=1.5,
        )
