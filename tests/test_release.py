"""What `make release` writes besides the distributions, and that building them twice gives the same files."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

import pytest

import bootstrap
import release
import version
from checkout import ROOT


def install(home: Path, *words: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    script = home / "dist" / "install.sh"
    return subprocess.run(
        ["sh", script, *words], env=environment, input=answer, capture_output=True, text=True, check=False
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "dist").mkdir()
    release.write_installer(tmp_path / "dist", 1000)
    return tmp_path


def test_the_installer_says_what_it_will_do_and_does_nothing_when_refused(home: Path) -> None:
    asked = install(home, answer="n\n")
    assert asked.returncode == 1
    for told in (
        f"Armarium {release.version()}",
        ".local/share/armarium-engine",
        ".local/bin/armarium",
        "1000 MB",
    ):
        assert told in asked.stdout
    assert asked.stdout.endswith("Nothing was changed.\n")
    assert sorted(path.name for path in home.iterdir()) == ["dist"]


def test_no_answer_is_a_refusal(home: Path) -> None:
    assert install(home).returncode == 1
    assert not (home / ".local").exists()


def test_a_word_that_the_installer_does_not_know_changes_nothing(home: Path) -> None:
    asked = install(home, "--everything")
    assert asked.returncode == 2
    assert asked.stderr == "usage: install.sh [--yes] [--remove]\n"


def test_removing_what_is_not_installed_says_so(home: Path) -> None:
    asked = install(home, "--remove", "--yes")
    assert asked.returncode == 1
    assert "is not installed" in asked.stdout


@pytest.mark.parametrize("words", [(), ("--remove",)])
def test_a_folder_that_is_no_installation_is_neither_replaced_nor_removed(
    home: Path, words: tuple[str, ...]
) -> None:
    mine = home / ".local" / "share" / "armarium-engine" / "bin"
    mine.mkdir(parents=True)
    (mine / "armarium").write_text("#!/bin/sh\n")
    (mine / "armarium").chmod(0o755)
    assert install(home, "--yes", *words).returncode == 1
    assert (mine / "armarium").exists()


def make_installation(home: Path, state: Path) -> Path:
    """Make what the installer makes, as far as its removal asks it anything; return the folder of the program."""
    place = home / ".local" / "share" / "armarium-engine"
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").touch()
    for name, text in (("armarium", "exit 0"), ("python", f"echo {state}")):
        (place / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (place / "bin" / name).chmod(0o755)
    command = home / ".local" / "bin" / "armarium"
    command.parent.mkdir()
    command.symlink_to(place / "bin" / "armarium")
    return place


def test_removal_takes_the_program_and_what_the_engine_keeps_and_leaves_projects(home: Path) -> None:
    state, project, command = home / "state", home / "Letters.library", home / ".local" / "bin" / "armarium"
    place = make_installation(home, state)
    state.mkdir()
    project.mkdir()
    assert install(home, "--remove", answer="y\n").returncode == 0
    assert not place.exists()
    assert not state.exists()
    assert not command.is_symlink()
    assert project.is_dir()


def test_a_project_inside_the_state_folder_keeps_that_folder(home: Path) -> None:
    state = home / "state"
    place = make_installation(home, state)
    (state / "Letters.library").mkdir(parents=True)
    removed = install(home, "--remove", "--yes")
    assert "is left as it is" in removed.stdout
    assert (state / "Letters.library").is_dir()
    assert not place.exists()


def test_the_next_version_is_written_wherever_it_stands(tmp_path: Path) -> None:
    places = [member.relative_to(ROOT) / "pyproject.toml" for member in bootstrap.workspace_members()]
    for place in (*places, *map(Path, version.STATED), Path("CHANGELOG.md")):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text((ROOT / place).read_text())
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- One.\n\n## 0.1.0, 2026-11-25\n")
    members = [(tmp_path / place).parent for place in places]
    for wrong in (release.version(), "0.0.9", "next"):
        with pytest.raises(SystemExit, match="no version after"):
            version.set_version(tmp_path, members, wrong, "2027-01-02")
    version.set_version(tmp_path, members, "10.0.0", "2027-01-02")
    assert "## 10.0.0, 2027-01-02\n\n- One.\n\n## 0.1.0" in (tmp_path / "CHANGELOG.md").read_text()
    stated = "".join((tmp_path / place).read_text() for place in places)
    assert stated.count('version = "10.0.0"') == len(places)
    assert (
        len(re.findall(r'"armarium-\S+==10\.0\.0"', stated))
        == len(re.findall(r'"armarium-\S+==', stated))
        > 100
    )
    for place in version.STATED:
        assert (tmp_path / place).read_text() == (ROOT / place).read_text().replace(
            release.version(), "10.0.0", 2
        )
    with pytest.raises(SystemExit, match="nothing to release"):
        version.set_version(tmp_path, members, "10.0.1", "2027-01-02")


def test_the_index_lists_every_file_ours_first_with_its_digest(tmp_path: Path) -> None:
    for name in ("zebra-1.0-py3-none-any.whl", "armarium_core-0.2.0-py3-none-any.whl", "a b&c.whl"):
        (tmp_path / name).write_bytes(name.encode())
    release.write_index(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert page.index("armarium_core") < page.index("a%20b%26c.whl") < page.index("zebra")
    assert "a b&amp;c.whl" in page
    digests = dict(line.split("  ")[::-1] for line in (tmp_path / "SHA256SUMS").read_text().splitlines())
    assert digests == {
        name: hashlib.sha256(name.encode()).hexdigest()
        for name in ("zebra-1.0-py3-none-any.whl", "armarium_core-0.2.0-py3-none-any.whl", "a b&c.whl")
    }


def test_a_file_that_only_one_build_has_or_that_differs_is_named(tmp_path: Path) -> None:
    for build, files in (
        ("first", {"same": "1", "other": "1", "lost": "1"}),
        ("second", {"same": "1", "other": "2"}),
    ):
        (tmp_path / build).mkdir()
        for name, text in files.items():
            (tmp_path / build / name).write_text(text)
    assert release.differing(*([*(tmp_path / build).iterdir()] for build in ("first", "second"))) == [
        "lost",
        "other",
    ]


@pytest.mark.skipif(
    not bootstrap.UV.exists(), reason="uv is not in this environment; distributions are built with it"
)
@pytest.mark.slow
def test_a_part_built_twice_gives_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "workspace_members", lambda: [ROOT / "worker"])
    builds: list[list[Path]] = []
    for name in ("first", "second"):
        source = tmp_path / name / "source" / "worker"
        source.parent.mkdir(parents=True)
        subprocess.run(["cp", "-r", ROOT / "worker", source], check=True)
        # What happens to the files between two exports of a commit.
        for path in source.rglob("*.py"):
            os.utime(path, (1_000_000_000 + len(builds), 1_000_000_000))
        builds.append(release.build_parts(source.parent, tmp_path / name / "dist"))
    assert len(builds[0]) == 2
    assert release.differing(*builds) == []
