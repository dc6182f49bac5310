"""The user manual is a journey: a shell runs its commands in order, and each of them works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from armarium.cli.program import build
from armarium_demo.samples import write_sample_pages
from checkout import ROOT, files, place, text

SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`(armarium [^`]+)`")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the manual is read to bash, which is not here")
def test_the_manual_can_be_followed(tmp_path: Path) -> None:
    write_sample_pages(tmp_path / "pages", count=2, scale=0.6)
    script = "set -e\n" + "\n".join(
        f"echo '$ {line}' >&2\n{line}" if "'" not in line else line
        for block in SHELL.findall(text(ROOT / "docs" / "using.md"))
        for line in block.strip().split("\n")
    )
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SERVICE_STATE_DIR": str(tmp_path / "state"),
        "SERVICE_LOCAL_ONLY": "true",
    }
    # All commands use one engine; starting one for each takes longer and is tested elsewhere.
    serving = subprocess.Popen(
        [str(Path(sys.executable).with_name("armarium")), "serve", "--port", "0"],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout is not None
        assert serving.stdout.readline().startswith("Armarium answers at ")
        ran = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=280
        )
    finally:
        serving.terminate()
        serving.wait(30)
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    # In the text, among the readings of the line and, where the table is wide enough, among the segments.
    assert ran.stdout.count("En la villa de Puerto Claro") >= 2
    assert len(list((tmp_path / "export").iterdir())) == 4


def commands() -> list[tuple[str, str]]:
    """Return every command that a page shows, in a block or in a sentence."""
    found = []
    for page in files(".md"):
        if place(page) == "docs/write-a-family.md":
            # This page shows commands of the family that it writes.
            continue
        lines = [line for block in SHELL.findall(text(page)) for line in block.split("\n")]
        lines += [" ".join(said.split()) for said in INLINE.findall(text(page))]
        found += [(place(page), line) for line in lines if line.startswith("armarium ")]
    return sorted(set(found))


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda value: value[:60])
def test_every_command_shown_exists_with_its_options(page: str, line: str) -> None:
    group = typer.main.get_command(build())
    context = typer.Context(group, resilient_parsing=True)
    # What follows a pipe or a comment sign is no command of ours.
    words = re.split("[#|]", re.sub(r'"[^"]*"', "VALUE", line))[0].split()[1:]
    known = {option for parameter in group.params for option in parameter.opts}
    for word in words:
        if hasattr(group, "commands") and (found := group.get_command(context, word)) is not None:
            group = found
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
