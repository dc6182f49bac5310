"""A machine for tests of the command line: a state folder, third-party plugins installed, and a serving engine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from typer.testing import CliRunner

STRANGERS = '''
"""A third-party distribution: a reader, a reader in a runtime, a transcriber, a plugin with a command, one that does not load."""
from armarium_worker import FoundLine, LineReading, Reader, Refused, Runtime, SpokenLine, Transcriber, Transcript
from armarium.api import Plugin, hookimpl


class Pretend(Reader):
    name = "pretend"
    label = "Pretend"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    languages = ("la",)

    def find_lines(self, page):
        if page.image.getpixel((0, 0)) == (0, 255, 0):
            raise Refused("The page is too faint to find lines on.")
        if page.image.getpixel((0, 0)) == (0, 0, 255):
            return
        for top in (10, 40):
            yield FoundLine(rect=(10, top, 80, 20), baseline=((10, top + 15), (90, top + 15)))

    def read_lines(self, page, lines):
        for number, _ in enumerate(lines):
            yield LineReading(f"linea {number + 1}", 0.75)


class Tiny(Pretend):
    name = "tiny"
    label = "Tiny"
    runtime = Runtime("tiny", "strangers_pins", "requirements.txt", "tinyengine", "A runtime for tests.", 1)


class Listener(Transcriber):
    name = "listener"
    label = "Listener"

    def transcribe(self, recording):
        if recording.stat().st_size < 1000:
            raise Refused("The recording is too short to hear anything in it.")
        return Transcript(2.0, [SpokenLine(0.0, 1.0, "Good day."), SpokenLine(1.0, 2.0, "Farewell.")])


class Greeter:
    @hookimpl
    def armarium_plugin(self):
        return Plugin(name="greeter", summary="Greets")


greeter = Greeter()
'''

COMMANDS = '''
def greeter():
    import typer

    from armarium_cli.api import answer

    group = typer.Typer()

    @group.command()
    def hello(name: str) -> None:
        """Say hello."""
        answer({"hello": name}, f"Hello, {name}.")

    @group.command()
    def stumble() -> None:
        """Fail."""
        raise KeyError("a fault")

    return group


def usher():
    import typer

    from armarium.commandline import answer

    group = typer.Typer()

    @group.command()
    def usher_in(name: str) -> None:
        """Show someone in."""
        answer({"in": name}, f"After you, {name}.")

    @group.command()
    def doctor() -> None:
        """Not the core's."""
        answer({}, "Say aah.")

    @group.command()
    def bow() -> None:
        """Bow."""
        answer({}, "A bow.")

    return group


def herald():
    import typer

    from armarium_cli.api import answer

    group = typer.Typer()

    @group.command()
    def bow(deep: bool = False) -> None:
        """Bow."""
        answer({}, "Trumpets.")

    return group


def faint():
    raise RuntimeError("smelling salts")
'''


def _install(site: Path) -> None:
    (site / "strangers.py").write_text(STRANGERS, encoding="utf-8")
    (site / "strangers_commands.py").write_text(COMMANDS, encoding="utf-8")
    (site / "strangers_sulk.py").write_text('raise RuntimeError("not today")\n', encoding="utf-8")
    (site / "strangers_pins").mkdir()
    (site / "strangers_pins" / "__init__.py").touch()
    (site / "strangers_pins" / "requirements.txt").write_text("tinyengine==1.0\n", encoding="utf-8")
    info = site / "strangers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[armarium.plugins]\ngreeter = strangers:greeter\nsulk = strangers_sulk\n"
        "[armarium.commands]\ngreeter = strangers_commands:greeter\nusher = strangers_commands:usher\n"
        "herald = strangers_commands:herald\nfaint = strangers_commands:faint\n"
        "[armarium.readers]\npretend = strangers:Pretend\ntiny = strangers:Tiny\n"
        "[armarium.transcribers]\nlistener = strangers:Listener\n",
        encoding="utf-8",
    )


@dataclass
class CommandResult:
    """The outcome of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The parsed answer under `--json`."""
        return json.loads(self.out)


@dataclass
class Machine:
    """A user's machine; `run` is one command in this process, in the user's current folder."""

    home: Path
    state: Path
    runner: CliRunner = field(default_factory=CliRunner)

    def run(self, *words: str) -> CommandResult:
        """Run `armarium WORDS`."""
        from armarium_cli.program import build

        ended = self.runner.invoke(build(), list(words), prog_name="armarium")
        assert ended.exception is None or isinstance(ended.exception, SystemExit), repr(ended.exception)
        assert "Traceback" not in ended.output
        return CommandResult(ended.exit_code, ended.stdout, ended.stderr)

    def succeed(self, *words: str) -> CommandResult:
        """Run a command that must succeed."""
        ran = self.run(*words)
        assert ran.code == 0, ran.err
        return ran

    def expect_refusal(self, *words: str, code: int = 1) -> str:
        """Run a command that must be refused with one line; return the line."""
        ran = self.run(*words)
        assert (ran.code, ran.out) == (code, ""), (ran.out, ran.err)
        assert ran.err.count("\n") == 1, ran.err
        return ran.err.strip()

    def expect_misuse(self, *words: str) -> str:
        """Run a command with wrong usage."""
        ran = self.run(*words)
        assert ran.code == 2, (ran.out, ran.err)
        return ran.err + ran.out


def _third_party_plugins(base: Path) -> tuple[Path, Path]:
    """Return the folder of the third-party plugins, and the file of verdicts on all plugins: both made once for all
    modules and all workers of a run, because a trial of them takes many seconds.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    site, verdicts = base / "strangers", base / "plugin-trials.json"
    with FileLock(base / "strangers.lock"):
        if not site.exists():
            site.mkdir()
            _install(site)
            verdicts_path = Path(os.environ.get("SERVICE_PLUGIN_TRIALS", ""))
            if verdicts_path.is_file():
                shutil.copyfile(verdicts_path, verdicts)
    return site, verdicts


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the module's machines, with the third-party plugins installed and none of this user's settings."""
    folder = tmp_path_factory.mktemp("cli")
    site, verdicts = _third_party_plugins(tmp_path_factory.getbasetemp())
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("SERVICE_", "ARMARIUM_"))]:
            if name not in ("ARMARIUM_SHARED_DATA", "ARMARIUM_NO_BACKGROUND"):
                patch.delenv(name)
        patch.setenv("SERVICE_PLUGIN_TRIALS", str(verdicts))
        patch.syspath_prepend(str(site))
        patch.setenv("PYTHONPATH", str(site))
        patch.setenv("COLUMNS", "200")
        yield folder


@pytest.fixture
def machine(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A new machine on which no engine runs: each command starts its own."""
    monkeypatch.setenv("SERVICE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Machine(tmp_path, tmp_path / "state")


@pytest.fixture(scope="module")
def serving(world: Path, short_home: Path) -> Iterator[Path]:
    """The state folder of an engine that serves on a Unix socket, in a thread, for a module."""
    import uvicorn

    from armarium.auth.secret_files import make_private_folder
    from armarium.engine_card import CARD
    from armarium.settings import Settings
    from armarium.web.app import create_app
    from armarium.web.serving import bind

    state = world / "s"
    make_private_folder(state)
    settings = Settings(
        state_dir=state, uds=short_home / "e.sock", library_roots=[world.parent], local_only=False
    )
    bound, card = bind(settings)
    app = create_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
    thread = threading.Thread(target=lambda: server.run(sockets=[bound]), daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (state / CARD).write_text(json.dumps(asdict(card)), encoding="utf-8")
    yield state
    app.state.engine.events.close()
    server.should_exit = True
    thread.join(30)


@pytest.fixture
def desk(serving: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose commands use the serving engine; the user is in an empty folder."""
    monkeypatch.setenv("SERVICE_STATE_DIR", str(serving))
    monkeypatch.chdir(tmp_path)
    return Machine(tmp_path, serving)


Pictures = Callable[[Sequence[str]], Path]


def in_a_terminal() -> None:
    """Let a child process receive signals from a terminal, also if these tests run in the background or under nohup,
    where every process ignores them. To be called in the child before it runs its program.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def pictures(tmp_path: Path) -> Pictures:
    """`pictures(["1.png", "faint.png"])` makes a folder of pages; those called faint are refused, those called bare
    have no line.
    """

    def make(names: Sequence[str]) -> Path:
        from PIL import Image

        folder = tmp_path / "pages"
        folder.mkdir(exist_ok=True)
        for number, name in enumerate(names):
            image = Image.new("RGB", (100, 80), (255, 255, 255 - number))
            if name.startswith("faint"):
                image.putpixel((0, 0), (0, 255, 0))
            if name.startswith("bare"):
                image.putpixel((0, 0), (0, 0, 255))
            image.save(folder / name)
        return folder

    return make


@pytest.fixture
def read_pages(desk: Machine, pictures: Pictures) -> Machine:
    """A project of two pages whose lines were found and read."""
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    desk.succeed("lines", "--reader", "pretend")
    desk.succeed("read", "--reader", "pretend")
    return desk


@pytest.fixture
def wills(desk: Machine, pictures: Pictures) -> Machine:
    """A project of three pages of 100 by 80 pixels."""
    pictures(["1.png", "2.png", "3.png"])
    desk.succeed("create", "Wills")
    desk.succeed("import", "pages")
    return desk


def ids(machine: Machine) -> dict[str, str]:
    """Return the ids of the project's things, by name."""
    return {node["name"]: node["id"] for node in machine.succeed("ls", "--json").json["items"]}
