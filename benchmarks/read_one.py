"""Row 3: GET one document against a FastAPI route that returns the same bytes, ready in memory."""

from __future__ import annotations

from benchmarks.harness import Result, compare
from benchmarks.http_load import fetch, requests_a_second
from benchmarks.places import scratch_folder
from benchmarks.servers import bare_server, engine_server

REQUESTS = 800


def measure(rounds: int) -> list[Result]:
    """Measure the ratio of requests a second."""
    with scratch_folder() as folder, engine_server(folder, installed=True) as ours:
        path = ours.paths["document"]
        ready = fetch(ours, "GET", path)
        with bare_server(folder, ready) as theirs:
            return [
                compare(
                    3,
                    f"GET one document ({len(ready):,} bytes)",
                    engine=lambda: requests_a_second(ours, "GET", path, count=REQUESTS),
                    peer=lambda: requests_a_second(theirs, "GET", "/ready", count=REQUESTS),
                    peer_name="FastAPI route with ready bytes",
                    unit="requests a second",
                    rounds=3 * rounds,
                    limit=0.5,
                    bound="at least",
                )
            ]
