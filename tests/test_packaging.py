"""Our distributions as others install them: wheels in a clean environment, away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from checkout import ROOT, dists

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not bootstrap.UV.exists(), reason="uv is not in this environment; wheels are built with it"
    ),
]


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env |= bootstrap.uv_environment()
    ran = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, f"{command}:\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def build_wheels(folders: list[Path], out: Path) -> list[Path]:
    """Build a wheel of each folder."""
    for member in folders:
        run(
            bootstrap.UV,
            "build",
            "--quiet",
            "--wheel",
            "--no-build-isolation",
            "--python",
            sys.executable,
            "-o",
            out,
            member,
        )
    return sorted(out.glob("*.whl"))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build_wheels(bootstrap.workspace_members(), tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def clean(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the base lock and our wheels, built from uv's cache where that has everything."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    run(bootstrap.UV, "venv", "--quiet", "--python", sys.executable, place)
    install = [bootstrap.UV, "pip", "install", "--quiet", "--python", place / "bin" / "python"]
    lock = ["--require-hashes", "-r", bootstrap.REQUIREMENTS / "base.txt"]
    if subprocess.run([*install, "--offline", *lock], capture_output=True).returncode != 0:
        run(*install, *lock)
    # The test harness is not part of a user's installation.
    ours = [wheel for wheel in wheels if not wheel.name.startswith("armarium_testing-")]
    run(*install, "--offline", "--no-deps", *ours)
    return place / "bin"


def test_every_distribution_makes_a_wheel_with_all_its_files(wheels: list[Path]) -> None:
    assert len(wheels) == len(bootstrap.workspace_members())
    for dist in dists():
        (wheel,) = (path for path in wheels if path.name.startswith(dist.name.replace("-", "_") + "-"))
        packed = set(zipfile.ZipFile(wheel).namelist())
        for package in dist.packages:
            expected = {
                str(path.relative_to(package.parent))
                for path in package.rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            }
            assert expected <= packed, f"{wheel.name} lacks {sorted(expected - packed)}"


def test_requirements_of_the_wheels_agree_with_the_lock(clean: Path) -> None:
    run(bootstrap.UV, "pip", "check", "--python", clean / "python")


def test_the_command_line_works_away_from_the_checkout(clean: Path, tmp_path: Path) -> None:
    result = run(clean / "armarium", "--help", cwd=tmp_path)
    for command in ("serve", "create", "import", "read", "export", "undo", "doctor"):
        assert command in result


def test_all_first_party_plugins_are_found_there(clean: Path, tmp_path: Path) -> None:
    found = found_in(clean, tmp_path)
    assert {"documents", "source_model", "images", "canvas", "formats", "iiif", "reading"} <= {
        plugin["name"] for plugin in found["items"]
    }
    assert not found["refused"]


def test_third_party_plugins_are_found_when_installed_and_gone_when_not(clean: Path, tmp_path: Path) -> None:
    """With every example as a wheel of its own, beside ours."""
    install = [
        bootstrap.UV,
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-deps",
        "--python",
        clean / "python",
    ]
    wheels = build_wheels(
        sorted(path.parent for path in ROOT.glob("examples/*/pyproject.toml")), tmp_path / "wheels"
    )
    names = [wheel.name.split("-")[0].replace("_", "-") for wheel in wheels]
    before = found_in(clean, tmp_path)
    run(*install, *wheels)
    try:
        with_examples = found_in(clean, tmp_path)
    finally:
        run(bootstrap.UV, "pip", "uninstall", "--quiet", "--python", clean / "python", *names)
    assert not with_examples["refused"]
    assert not with_examples["refused_drivers"]
    assert {plugin["name"] for plugin in with_examples["items"]} >= {
        "reading_room",
        "french_cues",
        "panel_words",
    }
    drivers = {
        name for plugin in with_examples["items"] for names in plugin["drivers"].values() for name in names
    }
    assert drivers >= {"line-table", "ink-rows"}
    assert found_in(clean, tmp_path) == before


def found_in(environment: Path, place: Path) -> Any:
    """Return what `armarium plugins` lists in an environment."""
    with_state = ["env", f"SERVICE_STATE_DIR={place / 'state'}"]
    return json.loads(run(*with_state, environment / "armarium", "--json", "plugins", cwd=place))
