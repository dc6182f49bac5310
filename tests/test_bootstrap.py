"""The environment of a checkout: when it is recreated, where pip comes from, and the message when it cannot be created."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import bootstrap


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout like ours in another place, with one distribution and empty locks."""
    (tmp_path / "part").mkdir()
    (tmp_path / "requirements").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.uv.workspace]\nmembers = ["part"]\n')
    (tmp_path / "part" / "pyproject.toml").write_text("")
    for name in ("base", "dev", "installers", "alone"):
        (tmp_path / "requirements" / f"{name}.txt").write_text("")
    venv = tmp_path / ".venv"
    moved = {
        "ROOT": tmp_path, "VENV": venv, "PYTHON": venv / "bin" / "python", "UV": venv / "bin" / "uv",
        "REQUIREMENTS": tmp_path / "requirements", "INSTALLERS": tmp_path / "requirements" / "installers.txt",
        "ALONE": tmp_path / "requirements" / "alone.txt",
        "__file__": str(tmp_path / "pyproject.toml"),
    }  # fmt: skip
    for name, value in moved.items():
        monkeypatch.setattr(bootstrap, name, value)
    return tmp_path


def pretend_ready(profile: str) -> None:
    bootstrap.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    bootstrap.PYTHON.touch()
    bootstrap.stamp(profile).write_text(bootstrap.fingerprint(profile))


def answer(monkeypatch: pytest.MonkeyPatch, *working: str) -> list[str]:
    """Let commands that contain one of these words succeed and all others fail; return the list of commands that are
    run.
    """
    asked: list[str] = []

    def run(command: Sequence[str | Path], **options: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(" ".join(str(part) for part in command))
        return subprocess.CompletedProcess([], 0 if any(word in asked[-1] for word in working) else 1)

    monkeypatch.setattr(bootstrap, "run", run)
    return asked


def test_this_checkout_is_ready_and_says_nothing_the_second_time() -> None:
    again = [sys.executable, bootstrap.ROOT / "tools" / "bootstrap.py", "base"]
    if not bootstrap.is_ready("base"):
        pytest.skip("the tests run in an environment that make did not set up")
    if not (bootstrap.ROOT / "plugins/workbench/src/armarium_workbench/app/built-from").exists():
        pytest.skip("the workbench could not be built here, and each set-up tries again")
    ran = subprocess.run(again, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")


def test_the_dev_environment_serves_a_user_too(checkout: Path) -> None:
    pretend_ready("dev")
    assert bootstrap.is_ready("base")
    assert bootstrap.is_ready("dev")


def test_the_base_environment_is_not_enough_for_tests(checkout: Path) -> None:
    pretend_ready("base")
    assert bootstrap.is_ready("base")
    assert not bootstrap.is_ready("dev")


@pytest.mark.parametrize(
    "changed", ["requirements/base.txt", "requirements/installers.txt", "part/pyproject.toml"]
)
def test_a_changed_lock_or_pyproject_is_installed_again(checkout: Path, changed: str) -> None:
    pretend_ready("base")
    (checkout / changed).write_text("# changed\n")
    assert not bootstrap.is_ready("base")


def test_a_moved_checkout_gets_a_new_environment(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_ready("base")
    bootstrap.stamp("base").write_text("/elsewhere\n")
    asked = answer(monkeypatch, "-m venv")
    bootstrap.make_environment()
    assert not bootstrap.VENV.exists()
    assert any("-m venv" in command for command in asked)


def test_a_working_environment_is_kept(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_ready("base")
    answer(monkeypatch, "version_info")
    bootstrap.make_environment()
    assert bootstrap.PYTHON.exists()


def test_python_without_a_venv_module_is_refused_with_a_sentence(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch)
    with pytest.raises(bootstrap.SetupFailed, match="no working `venv` module"):
        bootstrap.make_environment()


def test_the_next_source_of_pip_is_tried_when_one_fails(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "pip_commands", lambda scratch: iter([["first"], ["second"], ["third"]]))
    asked = answer(monkeypatch, "second")
    bootstrap.install_installers()
    assert [command.split()[0] for command in asked] == ["first", "second"]


def test_no_pip_anywhere_is_refused_with_a_sentence(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "pip_commands", lambda scratch: iter([]))
    answer(monkeypatch)
    with pytest.raises(bootstrap.SetupFailed, match="apt-get install python3-venv"):
        bootstrap.install_installers()


def test_pip_does_the_work_where_uv_cannot(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "uv_environment", dict)
    asked = answer(monkeypatch, "uv --version", "-m pip install")
    bootstrap.install_packages("base")
    installs = [command for command in asked if " install " in command]
    assert "/uv pip install" in installs[0]
    assert all("-m pip install" in command for command in installs[1:])
    assert f"-e {checkout / 'part'}" in installs[-1]


def test_an_install_that_fails_both_ways_is_refused_with_a_sentence(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "uv_environment", dict)
    answer(monkeypatch)
    with pytest.raises(bootstrap.SetupFailed, match="goes on where it stopped"):
        bootstrap.install_packages("base")


def test_a_setup_goes_on_without_a_workbench_that_cannot_be_built(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend_ready("base")
    script = checkout / "plugins" / "workbench" / "build_app.py"
    script.parent.mkdir(parents=True)
    script.touch()
    asked = answer(monkeypatch)
    assert bootstrap.main(["base"]) == 0
    assert asked == [f"{bootstrap.PYTHON} {script}"]
    assert "all else works" in capsys.readouterr().err


def test_a_word_it_does_not_know_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["everything"]) == 2
    assert "usage:" in capsys.readouterr().err


def test_a_failed_setup_is_one_sentence_and_an_exit_code(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch)
    assert bootstrap.main(["base"]) == 1
    assert "armarium setup: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "release", "machine", "python", "said"),
    [
        ("Linux", "", "x86_64", (3, 14), None),
        ("Darwin", "15.7", "arm64", (3, 14), None),
        ("Darwin", "26.1", "x86_64", (3, 13), None),
        ("Darwin", "", "arm64", (3, 12), None),
        ("Darwin", "14.8", "arm64", (3, 12), "macOS 14.8"),
        ("Darwin", "26.1", "x86_64", (3, 14), "make PYTHON=python3.13"),
    ],
)
def test_a_mac_without_a_build_of_a_package_is_refused(
    system: str, release: str, machine: str, python: tuple[int, int], said: str | None
) -> None:
    if said is None:
        bootstrap.refuse_a_mac_without_builds(system, release, machine, python)
        return
    with pytest.raises(bootstrap.SetupFailed, match=said):
        bootstrap.refuse_a_mac_without_builds(system, release, machine, python)
