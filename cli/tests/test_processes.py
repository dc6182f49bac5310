"""Real processes: an engine that serves and commands that reach it, what a command imports, Ctrl-C, closed pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine, Pictures, in_a_terminal

ARMARIUM = [sys.executable, "-c", "from armarium_cli import main; main()"]
HEAVY = ("sqlalchemy", "PIL", "lxml", "numpy", "onnxruntime", "alembic", "fastapi", "uvicorn", "httpx")
REPORT = (
    "import atexit, sys; atexit.register(lambda: print('IMPORTED', *sys.modules, file=sys.stderr));"
    "from armarium_cli import main; main()"
)


def list_imported(*words: str) -> set[str]:
    """Return the heavy modules that a command loads."""
    ran = subprocess.run([sys.executable, "-c", REPORT, *words], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return set(ran.stderr.rpartition("IMPORTED")[2].split()) & {*HEAVY, "pydantic"}


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does."""
    return subprocess.run([*ARMARIUM, *words], capture_output=True, text=True, timeout=120)


@contextmanager
def engine(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, object]]]:
    """Run `armarium serve WORDS --json` until the end of the block; yield the process and its card."""
    running = subprocess.Popen(
        [*ARMARIUM, "serve", *words, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=in_a_terminal,
        # Python then writes to a pipe as it does by default.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    try:
        assert running.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = running.stdout.readline()
            assert line, running.stderr and running.stderr.read()
            said += line
        yield running, json.loads(said)
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)


def test_help_and_version_load_nothing_heavy(machine: Machine) -> None:
    assert list_imported("--help") == set()
    assert list_imported("--version") == set()
    assert list_imported("import", "--help") == set()


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["uds", "tcp"])
def test_a_command_through_a_running_engine_loads_nothing_heavy(
    machine: Machine, short_home: Path, transport: str
) -> None:
    words = ("--uds", str(short_home / "e.sock")) if transport == "uds" else ("--port", "0")
    with engine(*words) as (running, card):
        assert card["transport"] == transport
        assert command("create", "Letters").returncode == 0
        for asked in (("ls",), ("history", "--json"), ("plugins",), ("jobs",)):
            assert list_imported(*asked) == set()
        assert command("doctor").returncode == 0
        # The doctor reopened it in the engine, so waiting work continues.
        assert [
            library["is_open"] for library in json.loads(command("projects", "--json").stdout)["libraries"]
        ] == [True]
        assert command("serve").returncode == 1
        os.kill(running.pid, signal.SIGINT)
        assert running.wait(60) in (0, 130)
    assert not (machine.state / "engine.json").exists()
    assert command("ls").returncode == 0


@pytest.mark.slow
def test_an_engine_that_is_killed_is_passed_over(machine: Machine) -> None:
    with engine("--port", "0") as (running, _):
        command("create", "Letters")
        running.kill()
        running.wait(30)
    ran = command("ls")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.slow
def test_an_engine_that_stops_answering_is_a_sentence(machine: Machine) -> None:
    import http.server
    import threading

    class SilentServer(http.server.BaseHTTPRequestHandler):
        """Closes the connection without an answer."""

        def do_GET(self) -> None:
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    assert command("create", "Letters").returncode == 0
    server = http.server.HTTPServer(("127.0.0.1", 0), SilentServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    card = {
        "transport": "tcp", "uds": None, "host": "127.0.0.1", "port": port, "base_url": f"http://127.0.0.1:{port}",
        "pid": 1, "version": "0", "started_at": "",
    }  # fmt: skip
    (machine.state / "engine.json").write_text(json.dumps(card))
    try:
        ran = command("projects")
    finally:
        server.shutdown()
        server.server_close()
    assert ran.returncode == 1
    assert ran.stderr.startswith("The engine does not answer")
    assert ran.stderr.count("\n") == 1


@pytest.mark.slow
def test_ctrl_c_stops_with_a_sentence_and_the_work_continues_later(
    machine: Machine, pictures: Pictures
) -> None:
    pictures([f"{number}.png" for number in range(40)])
    command("create", "Letters")
    running = subprocess.Popen(
        [*ARMARIUM, "import", "pages"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=in_a_terminal,
    )
    database = machine.home / "Letters.library" / "library.sqlite-wal"
    deadline = time.monotonic() + 120
    while not database.exists() and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    if running.returncode == 0:
        pytest.skip("the import was done before it could be stopped")
    assert running.returncode == 130
    assert "Traceback" not in said
    assert said.rstrip().splitlines()[-1].startswith("Stopped")
    assert command("jobs", "--watch").returncode == 0
    assert "is healthy" in command("doctor").stdout


@pytest.mark.slow
@pytest.mark.parametrize("words", ["action list --json", "action list", "--help"])
def test_a_closed_pipe_ends_a_command_silently_as_it_ends_other_tools(machine: Machine, words: str) -> None:
    ran = subprocess.run(
        ["bash", "-c", '"$@" | true; echo ${PIPESTATUS[0]}', "_", *ARMARIUM, *words.split()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.stdout, ran.stderr) == ("141\n", "")


def test_a_command_without_an_output_runs_all_the_same(machine: Machine) -> None:
    ran = subprocess.run(
        ["bash", "-c", '"$@" >&-', "_", *ARMARIUM, "projects"], capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, "")
