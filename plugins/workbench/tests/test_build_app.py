"""The build of the web application: when it is done again, and what is said where it cannot be done."""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "build_app.py"


@pytest.fixture
def build_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, for sources of its own in another place."""
    spec = importlib.util.spec_from_file_location("build_app", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    web, app = tmp_path / "web", tmp_path / "app"
    (web / "src").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "src/main.ts"):
        (web / name).write_text(name)
    for name, value in {
        "WEB": web,
        "APP": app,
        "BUILT_FROM": app / "built-from",
        "INSTALLED": web / "node_modules" / ".package-lock.json",
    }.items():
        monkeypatch.setattr(module, name, value)
    return module


Npm = Callable[..., list[str]]


@pytest.fixture
def npm(build_app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Npm:
    """`npm(failing="ci")` lets that command of npm fail; what it was asked is in the list."""

    def replace(failing: str = "nothing") -> list[str]:
        asked: list[str] = []

        def run(*words: str, quiet: bool = False) -> int:
            asked.append(" ".join(words[:2]))
            if words[0] == "ci":
                build_app.INSTALLED.parent.mkdir(exist_ok=True)
                build_app.INSTALLED.write_text("{}")
            elif words == ("run", "build"):
                build_app.APP.mkdir(exist_ok=True)
                (build_app.APP / "index.html").write_text("<!doctype html>")
            return int(failing in words)

        monkeypatch.setattr(build_app, "npm", run)
        return asked

    return replace


def test_the_application_is_built_once_until_a_source_changes(build_app: ModuleType, npm: Npm) -> None:
    asked = npm()
    assert build_app.build() is True
    assert build_app.build() is False
    assert asked == ["ci --no-audit", "run build"]
    assert gzip.decompress((build_app.APP / "index.html.gz").read_bytes()) == b"<!doctype html>"
    (build_app.WEB / "src" / "main.ts").write_text("changed")
    assert build_app.build() is True
    # What it needs is installed again only when the lock says so.
    assert asked[2:] == ["run build"]
    (build_app.WEB / "package-lock.json").write_text("changed")
    assert build_app.build() is True
    assert asked[3:] == ["ci --no-audit", "run build"]


@pytest.mark.parametrize(("failing", "said"), [("ci", "no registry"), ("build", "could not be built")])
def test_where_it_cannot_be_built_the_setup_says_so_and_goes_on(
    build_app: ModuleType, npm: Npm, failing: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    npm(failing)
    assert build_app.main([]) == 1
    error_output = capsys.readouterr().err
    assert "the workbench is left out" in error_output
    assert said in error_output
    assert not build_app.BUILT_FROM.exists()


def test_checks_that_cannot_be_run_fail_only_where_nobody_looks(
    build_app: ModuleType, npm: Npm, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm("ci")
    monkeypatch.delenv("CI", raising=False)
    assert build_app.main(["run", "lint"]) == 0
    monkeypatch.setenv("CI", "true")
    assert build_app.main(["run", "lint"]) == 1


def test_a_package_without_sources_keeps_what_was_built_for_it(build_app: ModuleType, npm: Npm) -> None:
    (build_app.WEB / "package.json").unlink()
    build_app.APP.mkdir()
    (build_app.APP / "index.html").write_text("")
    assert build_app.build() is False


def test_the_lock_of_the_packages_names_no_host() -> None:
    lock = (SCRIPT.parent / "web" / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert '"integrity"' in lock
    assert "omit-lockfile-registry-resolved=true" in (SCRIPT.parent / "web" / ".npmrc").read_text()
