"""A worker process answers, stops, refuses, crashes, hangs and disappears, and its engine always gets a sentence."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from armarium_worker import (
    WorkerDied,
    WorkerFailed,
    WorkerProcess,
    WorkerRefused,
    WorkerStopped,
    WorkerTimeout,
)

Start = Callable[..., WorkerProcess]


def test_hello_names_protocol_and_methods(start: Start) -> None:
    hello = start().hello()
    assert hello["protocol"] == 1
    assert {"hello", "echo", "count"} <= set(hello["methods"])


def test_parameters_and_bytes_come_back_as_sent(start: Start) -> None:
    worker = start()
    sent = {"text": "ſ שלום \u0000 é e\u0301", "numbers": [1, 2.5, None], "deep": {"a": [{}]}}
    assert worker.call("echo", sent, binary=b"\x00\xff") == {"params": sent, "binary": b"\x00\xff"}
    assert worker.call("echo", {}) == {"params": {}}


def test_progress_arrives_in_order(start: Start) -> None:
    heard: list[int] = []
    assert start().call("count", {"to": 50}, on_progress=lambda step: heard.append(step["done"])) == {
        "counted": 50
    }
    assert heard == list(range(1, 51))


def test_a_call_stops_after_the_item_in_progress_and_the_worker_lives(start: Start) -> None:
    worker = start()
    heard: list[int] = []
    with pytest.raises(WorkerStopped):
        worker.call(
            "count",
            {"to": 1000, "pause": 0.02},
            on_progress=lambda s: heard.append(s["done"]),
            should_stop=lambda: len(heard) >= 3,
        )
    assert 3 <= len(heard) < 100
    assert worker.call("echo", {"a": 1}) == {"params": {"a": 1}}


def test_a_caller_that_leaves_in_the_middle_does_not_block_the_next_call(start: Start) -> None:
    worker = start()

    def leave(_step: dict[str, Any]) -> None:
        raise LookupError("the caller left")

    with pytest.raises(LookupError):
        worker.call("count", {"to": 10_000, "pause": 0.01}, on_progress=leave)
    assert worker.call("count", {"to": 1}, timeout=60) == {"counted": 1}


def test_a_refusal_is_the_drivers_own_sentence(start: Start) -> None:
    worker = start()
    with pytest.raises(WorkerRefused, match=r"The page 'p1' is no picture\."):
        worker.call("refuse", {"page": "p1"})
    assert worker.alive


def test_an_exception_fails_the_call_and_keeps_the_worker(start: Start) -> None:
    worker = start()
    with pytest.raises(WorkerFailed, match="KeyError: 'weights'"):
        worker.call("fail")
    # The two pipes are read separately, so the refusal may arrive before the traceback.
    deadline = time.monotonic() + 60
    while not any("Traceback" in line for line in worker.stderr_lines):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert worker.call("echo") == {"params": {}}


def test_an_unknown_method_is_refused_with_the_known_ones(start: Start) -> None:
    with pytest.raises(WorkerRefused, match="no method 'train'; it has context, count"):
        start().call("train")


def test_a_crash_names_the_signal_and_the_last_words(start: Start) -> None:
    worker = start()
    with pytest.raises(WorkerDied, match=r"crashed \(SIGSEGV\)") as caught:
        worker.call("crash")
    assert "the last words" in caught.value.stderr
    assert not worker.alive
    with pytest.raises(WorkerDied):
        worker.call("echo")


@pytest.mark.parametrize("method", ["kill", "memory"])
def test_running_out_of_memory_is_refused_with_a_sentence(start: Start, method: str) -> None:
    with pytest.raises(WorkerDied, match="ran out of memory"):
        start().call(method)


def test_a_silent_worker_is_ended(start: Start) -> None:
    worker = start()
    worker.hello()
    with pytest.raises(WorkerTimeout, match=r"silent for 0\.5 seconds"):
        worker.call("hang", timeout=0.5)
    assert not worker.alive


def test_progress_counts_as_a_sign_of_life(start: Start) -> None:
    worker = start()
    worker.hello()
    assert worker.call("count", {"to": 12, "pause": 0.3}, timeout=3.0) == {"counted": 12}


def test_prints_never_reach_the_frames_and_standard_input_is_empty(start: Start) -> None:
    worker = start()
    assert worker.call("noise") == {"stdin": ""}
    worker.stop()
    assert {"progress bar: 50 %", "native noise", "a library that prints while it is imported"} <= set(
        worker.stderr_lines
    )


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds the frames' pipe through /proc")
def test_garbage_on_the_pipe_ends_the_worker_with_a_sentence(start: Start) -> None:
    worker = start()
    with pytest.raises(WorkerDied, match="bytes that are not a message"):
        worker.call("garbage")
    assert not worker.alive


def test_an_answer_over_the_limit_fails_the_call_and_keeps_the_worker(start: Start) -> None:
    worker = start()
    with pytest.raises(WorkerFailed, match="over the limit"):
        worker.call("huge")
    assert worker.call("echo") == {"params": {}}


def test_a_target_that_cannot_be_loaded_says_why(start: Start) -> None:
    with pytest.raises(WorkerDied, match=r"could not start: .*libgomp\.so\.1 is missing"):
        start("Unable").hello()
    with pytest.raises(WorkerDied, match=r"could not start: .*has no attribute 'Nobody'"):
        start("Nobody").hello()


def test_an_interpreter_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(WorkerDied, match="could not be started with python"):
        WorkerProcess("x:Y", python=tmp_path / "python")


def test_a_worker_reaches_loopback_and_nothing_else(start: Start) -> None:
    answer = start().call("network")
    assert "does not reach the network" in answer["outside"]
    assert answer["loopback"] is True


def test_the_engines_secrets_stay_with_the_engine(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_OWNER_TOKEN", "secret")
    names = start(threads=3).call("environment")["names"]
    assert "SERVICE_OWNER_TOKEN" not in names
    assert "OMP_NUM_THREADS" in names


def test_a_worker_receives_threads_and_device(start: Start) -> None:
    assert start(threads=3, device="cuda").call("context") == {"threads": 3, "device": "cuda"}


def test_stop_ends_an_idle_worker_and_a_hanging_one(start: Start) -> None:
    idle = start()
    idle.hello()
    idle.stop()
    assert not idle.alive
    idle.stop()


def test_a_worker_ends_when_its_engine_is_killed(tmp_path: Path) -> None:
    package = tmp_path / "worker_doubles"
    package.mkdir()
    (package / "__init__.py").write_text((Path(__file__).parent / "doubles.py").read_text("utf-8"), "utf-8")
    engine = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
            import sys
            from pathlib import Path
            from armarium_worker import WorkerProcess
            worker = WorkerProcess("worker_doubles:Echo", python=sys.executable,
                                   packages={{"worker_doubles": Path({str(package)!r})}})
            worker.hello()
            print(worker.pid, flush=True)
            worker.call("hang")
        """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert engine.stdout is not None
    worker = psutil.Process(int(engine.stdout.readline()))
    time.sleep(0.2)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    engine.stdout.close()
    with contextlib.suppress(psutil.NoSuchProcess):
        worker.wait(timeout=60)
    assert not worker.is_running()
