"""Many clients at once while an import runs: nothing locked, nothing lost.

The engine is `armarium serve` in a process of its own, over TCP; the clients are in two other processes. Three figures,
which are not to be mistaken for one another:

- *paced*: 200 clients, each of which waits 0.5 to 1.5 seconds between two requests, as people and agents do. That
  offers some 200 requests a second, four in five of them reads (`load_clients.MIX`); once in 20 seconds, each at a moment of
  its own, every fourth sends four requests without a pause. What is printed as p99 is what such a client waits.
- *herd*: the same, but every 20 seconds all 200 ask at the same moment, and every fourth four times. One request in
  twelve belongs to such a moment, so p99 says how long the engine takes to answer 350 requests that come at once.
- *closed loop*: the same clients never wait. The engine is saturated then, whatever it does; a p99 says how long the
  queue is (200 requests), not how long a request takes. The figure is the throughput, and that nothing is lost.

Meanwhile pages are imported, one folder after the other, to the end. Nothing is lost when every write that was
acknowledged is there, and every change made on condition of a version, or of the reading that counts, has counted
exactly once (`load_run.list_lost`). No time is asserted: machines differ. Memory is the engine's resident set; what it needs
under a load is known after a minute of it, and growth is counted from there.

The full figures, on a quiet machine (ARMARIUM_LOAD_SECONDS, 600 by default; herd and closed loop take a fifth of it each):

    .venv/bin/pytest -s -m soak tests/proofs/test_many_clients.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proofs.load_run import LoadOutcome, list_lost, run_load

FULL = float(os.environ.get("ARMARIUM_LOAD_SECONDS", "600"))
PAUSE = 1.0


def check_outcome(came: LoadOutcome) -> None:
    """Check that nothing was locked, lost, refused or left unanswered, and that the import continued to the end."""
    print(f"\n{came.describe()}")
    assert [odd for met in came.met for odd in met.odd] == []
    assert (came.sum("locked"), came.sum("unanswered")) == (0, 0)
    assert list_lost(came) == []
    assert came.pages > 0
    # The condition is tested only if several changes meet at one segment.
    assert sum(sum(met.changed.values()) for met in came.met) > 0
    assert came.sum("renamed") > 0


@pytest.mark.slow
def test_forty_clients_lose_nothing(tmp_path: Path) -> None:
    came = run_load(tmp_path, clients=40, seconds=5.0, pause=0.2)
    check_outcome(came)
    # A loss would be detected: pretend that one more of each was acknowledged.
    met, segment = came.met[0], next(iter(came.met[0].changed))
    met.made.append("a document")
    met.corrected.append("a reading")
    met.changed[segment] += 1
    met.renamed += 1
    came.pages += 1
    assert [said.split()[0].rstrip("s:") for said in list_lost(came)] == [
        "document",
        "reading",
        "segment",
        "rename",
        "picture",
    ]


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_two_hundred_paced_clients_for_ten_minutes(tmp_path: Path) -> None:
    check_outcome(run_load(tmp_path, clients=200, seconds=FULL, pause=PAUSE))


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_two_hundred_clients_who_all_ask_at_one_moment(tmp_path: Path) -> None:
    check_outcome(run_load(tmp_path, clients=200, seconds=FULL / 5, pause=PAUSE, herd=True))


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_two_hundred_clients_that_never_pause(tmp_path: Path) -> None:
    check_outcome(run_load(tmp_path, clients=200, seconds=FULL / 5, pause=0.0))
