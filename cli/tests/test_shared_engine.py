"""The engine that all commands share, in real processes: it starts, is found, is replaced, stops when idle, and leaves
nothing behind.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from armarium_testing.command_line import in_a_terminal
from armarium_testing.processes import has_ended

pytestmark = pytest.mark.slow

ARMARIUM = [sys.executable, "-c", "from armarium_cli import main; main()"]
TELLING = [
    sys.executable,
    "-c",
    "from armarium_cli import main, output; output.SAY_EVERY = 0.5; main()",
]
"""Runs `armarium`, but progress is printed at once instead of after ten seconds."""
PATIENT = '''
"""A reader that stays at a page for as long as a file is there."""
import time
from pathlib import Path
from armarium_worker import FoundLine, Reader


class Patient(Reader):
    name = "patient"
    label = "Patient"
    can = frozenset({"find_lines"})

    def find_lines(self, page):
        while Path(HELD).exists():
            time.sleep(0.05)
        yield FoundLine(rect=(10, 10, 80, 20), baseline=((10, 25), (90, 25)))
'''


@dataclass
class User:
    """A user at a terminal, with a state folder of their own."""

    home: Path
    state: Path
    environment: dict[str, str]

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `armarium WORDS`."""
        return subprocess.run(
            [*ARMARIUM, *words], cwd=self.home, env={**self.environment, **more},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def succeed(self, *words: str, **more: str) -> str:
        """Run a command that must succeed; return what it printed."""
        ran = self.run(*words, **more)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def expect_refusal(self, *words: str, **more: str) -> str:
        """Run a command that must be refused; return the sentence."""
        ran = self.run(*words, **more)
        assert (ran.returncode, ran.stdout) == (1, ""), ran.stdout
        return ran.stderr

    def begin(self, *words: str, program: Sequence[str] = ARMARIUM) -> subprocess.Popen[str]:
        """Start a command in a terminal of its own, without waiting for it."""
        return subprocess.Popen(
            [*program, *words], cwd=self.home, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=in_a_terminal,
        )  # fmt: skip

    @property
    def held_file(self) -> Path:
        """The reader waits at its page as long as this file exists."""
        return self.home / "held"

    @property
    def card(self) -> dict[str, Any] | None:
        """The card of the engine, or None if there is none."""
        try:
            found: dict[str, Any] = json.loads((self.state / "engine.json").read_text())
        except FileNotFoundError:
            return None
        return found

    @property
    def pid(self) -> int:
        """The process id of the engine."""
        assert self.card is not None
        return int(self.card["pid"])

    def engines(self) -> list[int]:
        """Return the processes that serve this state folder, or are about to."""
        found = []
        for process in psutil.process_iter():
            try:
                if "--background" in process.cmdline() and process.environ().get("SERVICE_STATE_DIR") == str(
                    self.state
                ):
                    found.append(process.pid)
            except psutil.Error:
                continue
        return found

    def pages(self, count: int) -> None:
        """Create a project of *count* pages."""
        from PIL import Image

        (self.home / "pages").mkdir()
        for number in range(count):
            Image.new("RGB", (100, 80), (255, 255, 255 - number)).save(self.home / "pages" / f"{number}.png")
        self.succeed("create", "Letters")
        self.succeed("import", "pages")

    def begin_long_work(self, pages: int = 6) -> tuple[subprocess.Popen[str], str]:
        """Start to find lines on *pages*, none of which is finished while `held_file` exists; return the command, which
        follows the job, and the id of the running job.
        """
        self.held_file.touch()
        self.pages(pages)
        running = self.begin("lines", "--reader", "patient", program=TELLING)
        assert running.stderr is not None
        # The command prints the state of the work, so it follows it.
        assert running.stderr.readline().startswith("Find lines: ")
        begun: list[str] = []

        def has_begun() -> bool:
            begun[:] = [
                job["id"] for job in self.jobs() if job["kind"] == "find-lines" and job["state"] == "running"
            ]
            return bool(begun)

        within(60, has_begun)
        (job,) = begun
        return running, job

    def let_go(self) -> None:
        """Let the reader continue."""
        self.held_file.unlink(missing_ok=True)

    def jobs(self) -> list[dict[str, Any]]:
        """Return the current jobs, as `armarium jobs` lists them."""
        items: list[dict[str, Any]] = json.loads(self.succeed("jobs", "--json"))["items"]
        return items

    def in_hand(self) -> list[str]:
        """Return what the engine is working on."""
        work: list[str] = json.loads(self.succeed("engine", "--json")).get("work", [])
        return work

    def lines_of(self, page: str) -> int:
        """Return how many lines were found on a page."""
        return len(json.loads(self.succeed("segments", page, "--kind", "line", "--json"))["segments"])


def within(seconds: float, is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


def throughout(seconds: float, is_so: Callable[[], bool]) -> None:
    """Check that a condition keeps holding."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert is_so(), "it did not stay so"
        time.sleep(0.1)


@pytest.fixture
def user(tmp_path: Path, short_home: Path) -> Iterator[User]:
    site = tmp_path / "site"
    info = site / "patient-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "patient.py").write_text(PATIENT.replace("HELD", repr(str(tmp_path / "held"))))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: patient\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[armarium.readers]\npatient = patient:Patient\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SERVICE_", "ARMARIUM_")) or name == "ARMARIUM_SHARED_DATA"
    }
    state = short_home / "state"
    new_user = User(
        tmp_path,
        state,
        {**environment, "SERVICE_STATE_DIR": str(state), "PYTHONPATH": str(site), "COLUMNS": "200"},
    )
    yield new_user
    new_user.let_go()
    new_user.run("engine", "stop")
    within(60, lambda: new_user.engines() == [])


def test_the_first_command_starts_it_and_the_next_ones_use_it_until_it_is_stopped(user: User) -> None:
    assert user.succeed("engine") == "No engine is running; the next command that needs one starts it.\n"
    user.succeed("create", "Letters")
    first = user.pid
    assert "Sources" in user.succeed("ls")
    shown = json.loads(user.succeed("engine", "--json"))
    assert (shown["running"], shown["pid"], shown["mode"]) == (True, first, "background")
    assert shown["projects"] == [str(user.home / "Letters.library")]
    assert shown["work"] == []
    for word in (str(first), "in the background", "Letters.library", "Nothing is left to do"):
        assert word in user.succeed("engine")
    assert stat.S_IMODE((user.state / "engine.log").stat().st_mode) == 0o600
    assert user.succeed("engine", "stop") == "The engine has stopped.\n"
    assert user.engines() == []
    assert not (user.state / "engine.json").exists()
    assert not (user.state / "engine.sock").exists()
    assert user.succeed("engine", "stop") == "No engine is running.\n"


def test_first_commands_at_once_start_one_engine(user: User) -> None:
    running = [user.begin("projects") for _ in range(4)]
    for one in running:
        said = one.communicate(timeout=120)
        assert one.returncode == 0, said
    within(60, lambda: user.engines() == [user.pid])


def test_one_that_was_killed_is_passed_over_with_its_card_and_its_socket(user: User) -> None:
    user.succeed("create", "Letters")
    killed = user.pid
    os.kill(killed, signal.SIGKILL)
    within(60, lambda: has_ended(killed))
    assert (user.state / "engine.sock").exists()
    ran = user.run("ls")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert user.pid != killed


def test_a_state_folder_too_deep_for_a_socket_has_it_elsewhere(user: User) -> None:
    deep = user.state / ("d" * 90) / "state"
    user.state, user.environment["SERVICE_STATE_DIR"] = deep, str(deep)
    user.succeed("create", "Letters")
    assert user.card is not None
    socket = Path(user.card["uds"])
    assert len(os.fsencode(socket)) < 100
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    user.succeed("engine", "stop")
    assert not socket.parent.exists()


def test_it_stops_without_requests_and_work_and_paused_work_does_not_keep_it_up(user: User) -> None:
    user.environment["SERVICE_REST_SECONDS"] = "1.5"
    user.pages(2)
    user.succeed("jobs", "pause")
    user.succeed(
        "action", "run", "reading.find_lines", "-p",
        json.dumps({"scope_ids": [item["id"] for item in json.loads(user.succeed("ls", "--json"))["items"]], "reader": "patient"}),
    )  # fmt: skip
    assert [job["state"] for job in user.jobs()] == ["waiting"]
    within(60, lambda: user.engines() == [])
    assert not (user.state / "engine.json").exists()
    user.succeed("jobs", "resume")
    user.succeed("jobs", "--watch")
    assert user.lines_of("0.png") == user.lines_of("1.png") == 1


def test_long_work_continues_when_the_terminal_is_closed_and_other_commands_work_meanwhile(
    user: User,
) -> None:
    user.environment["SERVICE_REST_SECONDS"] = "2"
    running, job = user.begin_long_work(pages=3)
    engine = user.pid
    os.killpg(running.pid, signal.SIGHUP)
    running.communicate(timeout=120)
    assert "0.png" in user.succeed("ls")
    # No request is sent for longer than the engine's idle time.
    throughout(5, lambda: user.pid == engine)
    assert user.engines() == [engine]
    user.let_go()
    within(60, lambda: user.engines() == [])
    assert [user.lines_of(f"{number}.png") for number in range(3)] == [1] * 3
    assert "error" not in user.succeed("jobs", "log", job)


def test_ctrl_c_ends_the_command_and_says_how_to_end_the_job(user: User) -> None:
    running, job = user.begin_long_work()
    os.killpg(running.pid, signal.SIGINT)
    line = running.communicate(timeout=120)[1].splitlines()[-1]
    assert running.returncode == 130
    assert line.startswith("Stopped watching; the work goes on in the background")
    assert f"armarium jobs cancel {job}" in line
    assert user.in_hand() != []
    user.succeed("jobs", "cancel", job)
    user.let_go()
    within(60, lambda: user.in_hand() == [])


def test_stopped_during_work_it_finishes_the_page_and_the_next_command_continues(user: User) -> None:
    running, job = user.begin_long_work()
    os.killpg(running.pid, signal.SIGINT)
    running.communicate(timeout=120)
    stopping = user.begin("engine", "stop", "--json")
    assert stopping.stderr is not None
    assert stopping.stderr.readline().startswith("It finishes the items in progress first: ")
    user.let_go()
    answered, _ = stopping.communicate(timeout=120)
    assert stopping.returncode == 0
    assert json.loads(answered)["carry_on"] == [str(user.home / "Letters.library")]
    within(60, lambda: user.engines() == [])
    with sqlite3.connect(user.home / "Letters.library" / "library.sqlite") as raw:
        found = "SELECT d.name FROM segment s JOIN document d ON d.id = s.document_id WHERE s.kind = 'line'"
        pages = [row[0] for row in raw.execute(found)]
        state, interruptions = raw.execute(
            "SELECT state, interruptions FROM job WHERE id = ?", (job,)
        ).fetchone()
    # Some pages are complete and none is partial; stopping is not a failure of the job.
    assert 0 < len(pages) == len(set(pages)) < 6
    assert (state, interruptions) == ("waiting", 0)
    user.succeed("jobs", "--watch")
    assert [user.lines_of(f"{number}.png") for number in range(6)] == [1] * 6


def test_an_engine_of_older_software_finishes_its_item_and_the_new_one_continues(user: User) -> None:
    running, _ = user.begin_long_work()
    older = user.card
    assert older is not None
    (user.state / "engine.json").write_text(json.dumps({**older, "version": "0.0.9"}))
    listing = user.begin("ls")
    assert listing.stderr is not None
    assert listing.stderr.readline().startswith("The engine finishes the items in progress first: ")
    assert user.pid == older["pid"]
    user.let_go()
    ran = listing.communicate(timeout=120)
    assert listing.returncode == 0, ran
    assert "0.png" in ran[0]
    assert user.pid != older["pid"]
    # The command that started the job continues to follow it in the new engine.
    said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert "6 pages, 6 lines" in said[0]


def test_newly_installed_software_replaces_an_idle_engine(user: User) -> None:
    user.succeed("create", "Letters")
    before = user.pid
    (Path(user.environment["PYTHONPATH"]) / "more-1.0.dist-info").mkdir()
    user.succeed("ls")
    assert user.pid != before
    assert user.engines() == [user.pid]
    before = user.pid
    user.succeed("ls")
    assert user.pid == before


def test_a_command_with_other_settings_replaces_an_idle_engine_and_is_refused_beside_a_busy_one(
    user: User,
) -> None:
    running, job = user.begin_long_work()
    before = user.pid
    refusal = user.expect_refusal("ls", SERVICE_LOCAL_ONLY="true")
    assert refusal.startswith(
        "This command is to run with SERVICE_LOCAL_ONLY=true, but the engine in the background is at work: "
    )
    assert "armarium engine stop" in refusal
    assert user.expect_refusal("ls", "--foreground").startswith(
        "This command is to run in the foreground, but "
    )
    assert user.pid == before
    user.succeed("jobs", "cancel", job)
    user.let_go()
    running.communicate(timeout=120)
    within(60, lambda: user.in_hand() == [])
    user.succeed("ls", SERVICE_LOCAL_ONLY="1")
    assert user.card is not None
    assert user.card["settings"]["local_only"] is True
    assert user.pid != before
    second_pid = user.pid
    # Another spelling of the same setting is no difference.
    user.succeed("ls", SERVICE_LOCAL_ONLY="true")
    assert user.pid == second_pid
    user.succeed("ls")
    assert user.pid != second_pid


@pytest.mark.parametrize("how", ["option", "variable"])
def test_without_the_background_no_engine_is_started_and_one_at_rest_makes_room(user: User, how: str) -> None:
    words = ["--foreground"] if how == "option" else []
    more = {"ARMARIUM_NO_BACKGROUND": "1"} if how == "variable" else {}
    user.succeed("create", "Letters", *words, **more)
    assert user.card is None
    user.succeed("ls")
    assert user.card is not None
    user.succeed("ls", *words, **more)
    assert user.card is None
    assert user.engines() == []


def test_serve_replaces_an_idle_background_engine(user: User) -> None:
    user.succeed("create", "Letters")
    before = user.pid
    serving = user.begin("serve", "--port", "0", "--json")
    try:
        assert serving.stdout is not None
        within(60, lambda: (user.card or {"pid": before})["pid"] != before)
        user.succeed("ls")
        assert user.pid == serving.pid
        assert user.expect_refusal("ls", SERVICE_LOCAL_ONLY="true").startswith(
            "This command is to run with SERVICE_LOCAL_ONLY=true, but the engine that serves here"
        )
        user.succeed("ls", SERVICE_LOCAL_ONLY="false")
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=120)


def test_a_command_that_waited_longer_than_the_engine_rests_reaches_another(user: User) -> None:
    """An editor may be open for a long time: what was written there is not lost because the engine stopped meanwhile."""
    user.succeed("create", "Letters")
    waiting = (
        "import subprocess, sys\n"
        "from armarium_cli.session import connect\n"
        f"stop = [*{ARMARIUM!r}, 'engine', 'stop']\n"
        "with connect() as session:\n"
        "    session.library = sys.argv[1]\n"
        "    session.get('/api/library/settings')\n"
        "    subprocess.run(stop, check=True, stdout=subprocess.DEVNULL)\n"
        "    print(session.act('library.set', {'name': 'Written meanwhile'})['ok'])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", waiting, str(user.home / "Letters.library")],
        env=user.environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("True\n", "")
    assert "Written meanwhile" in user.succeed("projects")


def test_an_engine_that_cannot_start_says_why(user: User) -> None:
    refusal = user.expect_refusal("ls", SERVICE_MAX_BODY_BYTES="many")
    assert refusal.startswith("SERVICE_MAX_BODY_BYTES is 'many' and cannot be used")
    user.state.mkdir(exist_ok=True, mode=0o700)
    (user.state / "engine.sqlite").write_bytes(b"no database" * 1000)
    refusal = user.expect_refusal("ls")
    assert refusal.count("\n") == 1
    assert "Traceback" not in refusal
