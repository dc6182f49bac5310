"""The user manual and the tutorials are journeys: a shell runs their commands in order, and each of them works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from armarium_cli.program import build
from armarium_demo.samples import write_sample_pages
from checkout import ROOT, files, place, text

COMMANDS = Path(sys.executable).parent
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`(armarium [^`]+)`")


pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        shutil.which("bash") is None, reason="the manuals are read to bash, which is not here"
    ),
]


def follow(page: str, place: Path, commands: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run every command block of a page in *place*, in one shell that stops at the first that fails."""
    script = "set -e\n" + "\n".join(SHELL.findall(text(ROOT / "docs" / page)))
    env = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "SERVICE_STATE_DIR": str(place / "state"),
        "SERVICE_LOCAL_ONLY": "true",
        **more,
    }
    # `-v` names each command before it runs.
    ran = subprocess.run(
        ["bash", "-vc", script], cwd=place, env=env, capture_output=True, text=True, timeout=590
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """The folder of a person for whom an engine is served. One for each command takes longer and is tested elsewhere."""
    serving = subprocess.Popen(
        [str(COMMANDS / "armarium"), "serve", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "SERVICE_STATE_DIR": str(tmp_path / "state"), "SERVICE_LOCAL_ONLY": "true"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout is not None
        assert serving.stdout.readline().startswith("Armarium answers at ")
        yield tmp_path
    finally:
        serving.terminate()
        serving.wait(30)


@pytest.mark.slow
def test_the_manual_can_be_followed(served: Path) -> None:
    write_sample_pages(served / "pages", count=2, scale=0.6)
    ran = follow("using.md", served, COMMANDS)
    # In the text, among the readings of the line and, where the table is wide enough, among the segments.
    assert ran.stdout.count("En la villa de Puerto Claro") >= 2
    assert len(list((served / "export").iterdir())) == 4


@pytest.mark.slow
def test_a_historian_can_follow_the_tutorial(served: Path) -> None:
    ran = follow("tutorial-letters.md", served, COMMANDS)
    assert "no lines found: 0012.jpg" in ran.stdout
    assert "arriendo del molino bajo" in ran.stdout
    # Pages that form a document are one Word file each, and so are its pages: blank ones have none.
    assert len(list((served / "for-word").rglob("*.docx"))) >= 11
    assert (served / "letters.pdf").read_bytes().startswith(b"%PDF-")
    # The letters lie in documents of their own by then, and so do their files.
    (last,) = (served / "tei").rglob("0013.xml")
    assert "Le marchand de toile" in last.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_philologist_can_follow_the_tutorial(served: Path) -> None:
    ran = follow("tutorial-manuscript.md", served, COMMANDS)
    assert "0013.xml: same" in ran.stdout
    assert "changed.xml: differs" in ran.stdout
    edition = (served / "edition" / "0013.xml").read_text(encoding="utf-8")
    assert 'reason="stained"' in edition
    assert "Hand A" in edition


@pytest.mark.slow
def test_an_archive_can_follow_the_tutorial(served: Path) -> None:
    ran = follow("tutorial-archive.md", served, COMMANDS)
    assert "1 of 12 lines" in ran.stdout
    # The closed box leaves in no export.
    assert {path.name[:4] for path in (served / "alto").rglob("*.xml")} == {"0001", "0002", "0003", "0004"}
    assert (served / "for-viewer" / "mets.xml").is_file()


@pytest.mark.slow
def test_a_developer_can_follow_the_tutorial(tmp_path: Path) -> None:
    """In an environment of its own, in which a plugin can be installed beside what this one has."""
    venv.create(tmp_path / "env", with_pip=True)
    bin_, (packages,) = tmp_path / "env" / "bin", (tmp_path / "env" / "lib").glob("python*/site-packages")
    (packages / "ours.pth").write_text(
        f"import site; site.addsitedir({str(sysconfig.get_path('purelib'))!r})\n"
    )
    (bin_ / "armarium").write_text(f"#!{bin_ / 'python'}\nfrom armarium_cli import main\nmain()\n")
    (bin_ / "armarium").chmod(0o755)
    # What is built and needed is here: no package index is asked.
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    try:
        ran = follow(
            "tutorial-plugin.md", tmp_path, bin_, **offline, COLUMNS="120", ARMARIUM_NO_BACKGROUND="0"
        )
    finally:
        stop = [str(bin_ / "armarium"), "engine", "stop"]
        subprocess.run(stop, env={**os.environ, "SERVICE_STATE_DIR": str(tmp_path / "state")}, check=False)
    assert ran.stdout.count("The seal is lost.") >= 2
    assert "1 passed" in ran.stdout
    assert "is healthy" in ran.stdout


def commands() -> list[tuple[str, str]]:
    """Return every command that a page shows, in a block or in a sentence."""
    found = []
    for page in files(".md"):
        if place(page) in ("docs/write-a-family.md", "docs/tutorial-plugin.md"):
            # These pages show commands of the family that they write.
            continue
        lines = [line for block in SHELL.findall(text(page)) for line in block.split("\n")]
        lines += [" ".join(element.split()) for element in INLINE.findall(text(page))]
        found += [(place(page), line) for line in lines if line.startswith("armarium ")]
    return sorted(set(found))


@pytest.fixture(scope="module")
def all_commands() -> Any:
    return typer.main.get_command(build())


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda value: value[:60])
def test_every_command_shown_exists_with_its_options(all_commands: Any, page: str, line: str) -> None:
    group = all_commands
    context = typer.Context(group, resilient_parsing=True)
    # What follows a pipe or a comment sign is no command of ours.
    words = re.split("[#|]", re.sub(r'"[^"]*"', "VALUE", line))[0].split()[1:]
    known = {option for parameter in group.params for option in parameter.opts}
    for word in words:
        if hasattr(group, "commands") and (command := group.get_command(context, word)) is not None:
            group = command
            known |= {
                option
                for parameter in group.params
                for option in (*parameter.opts, *parameter.secondary_opts)
            }
        elif word.startswith("-"):
            assert word.split("=")[0] in known, f"{page}: {line}: no option {word}"
    by_itself = getattr(group, "invoke_without_command", False)
    assert (
        by_itself
        or not hasattr(group, "commands")
        or words[-1]
        in (
            "COMMAND",
            "--help",
            "--version",
            "jobs",
            "engine",
            "--watch",
        )
    ), f"{page}: {line}: no such command"
