"""Row 28: the training loop against a bare one, and what a training costs those who read meanwhile.

It needs the trainer's runtime (``armarium runtime install hand-trainer``, or ARMARIUM_BENCH_TORCH names an interpreter
with torch and onnx). A person's requests go to the engine as installed, served in a process of its own, while the
trainer's process goes through an epoch; four of them are answered at a time.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np

import armarium_hand_trainer
import armarium_worker
from armarium_reader_hand.picture import HEIGHT
from benchmarks.harness import Result, compare
from benchmarks.http_load import latencies
from benchmarks.places import scratch_folder
from benchmarks.servers import engine_server
from benchmarks.teaching import lay_out, shipped_base, start_trainer, torch_python

LINES = 192
"""Generated lines."""
REQUESTS = 400
"""Sent in a burst, again and again until the epoch ends."""


def measure(rounds: int) -> list[Result]:
    """Measure lines a second of training, and the 99th percentile of a GET beside it."""
    python = torch_python("training_loop")
    if python is None:
        return []
    with scratch_folder() as folder:
        given = []
        for name in ("alone", "beside"):
            lay_out(folder / name, _lines())
            given.append({"folder": str(folder / name), "base": shipped_base(), "batch_size": 4})
        return [_loop(python, given[0], rounds), _requests(python, given[1], folder)]


def _lines() -> list[tuple[Any, str]]:
    rng = np.random.default_rng(28)
    return [
        ((rng.random((HEIGHT, int(width))) < 0.15).astype(np.uint8) * 255, "a letter of no meaning at all")
        for width in rng.integers(400, 900, LINES)
    ]


def _loop(python: Path, given: dict[str, Any], rounds: int) -> Result:
    """Compare epochs of the trainer's worker, with validation, averages and checkpoints, with steps alone."""
    trainer, epochs = start_trainer(python), [0]
    roots = [Path(str(one.__file__)).parents[1] for one in (armarium_hand_trainer, armarium_worker)]
    script = Path(__file__).with_name("bare_training.py")
    bare = subprocess.Popen(
        [python, script, json.dumps(given)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots)), "OMP_NUM_THREADS": "1"},
    )
    assert bare.stdin is not None
    assert bare.stdout is not None
    asked, said = bare.stdin, bare.stdout

    def ours() -> float:
        epochs[0] += 1
        told = trainer.call("epoch", {**given, "epoch": epochs[0]})
        return float(told["lines"] / told["seconds"])

    def theirs() -> float:
        asked.write("go\n")
        asked.flush()
        return float(said.readline())

    try:
        return compare(
            28,
            f"training on {LINES} lines, one epoch with its validation and checkpoint, one core",
            engine=ours,
            peer=theirs,
            peer_name="bare torch steps over the same lines",
            unit="lines a second",
            rounds=rounds,
            limit=0.9,
            bound="at least",
        )
    finally:
        trainer.kill()
        asked.close()
        bare.wait(30)


def _requests(python: Path, given: dict[str, Any], folder: Path) -> Result:
    """Measure GETs of one document while the trainer works, against 250 ms."""
    trainer = start_trainer(python)
    (folder / "served").mkdir()
    try:
        with engine_server(folder / "served", installed=True) as server:
            path = server.paths["document"]
            idle = _percentile(latencies(server, "GET", path, count=REQUESTS))
            trainer.call("epoch", {**given, "epoch": 1})
            work = threading.Thread(target=trainer.call, args=("epoch", {**given, "epoch": 2}))
            work.start()
            times: list[float] = []
            while work.is_alive():
                times += latencies(server, "GET", path, count=REQUESTS)
            work.join()
    finally:
        trainer.kill()
    slow = _percentile(times)
    return Result(
        28,
        f"99 of 100 of {len(times):,} GETs while a hand is trained, against 250 ms",
        "s",
        slow,
        0.25,
        "the limit",
        slow / 0.25,
        limit=1.0,
        note=f"{idle * 1000:.1f} ms without a training",
    )


def _percentile(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]
