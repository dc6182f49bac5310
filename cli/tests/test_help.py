"""The help page and its contents, completion in a shell, and that a command loads only what it needs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from armarium_cli.options import Topic
from armarium_cli.program import build
from armarium_cli.tree import Tree
from armarium_testing.command_line import Machine, Pictures
from armarium_testing.samples import sample


def every_command() -> Iterator[tuple[str, Any]]:
    """Yield each command with the words that call it, except those of the tests' own plugins."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield words, command
        for name, one in getattr(command, "commands", {}).items():
            yield from walk(f"{words} {name}", one)

    tree = Tree()
    for entry in tree.entries():
        if not entry.hidden and not entry.source.startswith("strangers"):
            yield from walk(f"armarium {entry.name}", tree.command(entry.name))


def test_every_command_has_a_topic_in_the_help(machine: Machine) -> None:
    entries = [
        entry for entry in Tree().entries() if not entry.hidden and not entry.source.startswith("strangers")
    ]
    assert len(entries) > 40
    assert {item.topic for item in entries} == set(Topic)
    answer = machine.succeed("--help").out
    at = [answer.index(f"─ {Topic.title_of(topic)} ─") for topic in Topic]
    assert at == sorted(at)
    assert answer.index("─ More commands ─") < answer.index("usher-in")


def test_every_command_shows_an_example_that_can_be_typed(machine: Machine) -> None:
    for words, command in every_command():
        if getattr(command, "commands", None) and not command.invoke_without_command:
            continue
        said, _, example = (command.epilog or "").partition("Example: ")
        assert said == "", words
        assert example.startswith(words), f"{words}: {example}"
        typed = shlex.split(example)[len(words.split()) :]
        # The command line is only parsed; nothing is run.
        with command.make_context(words, typed):
            pass


def test_the_examples_of_the_topics_can_be_typed(machine: Machine) -> None:
    tree = Tree()
    for topic in Topic:
        name, *rest = Topic.title_of(topic).partition("armarium ")[2].split()
        with tree.command(name).make_context(name, rest):
            pass


def test_what_is_noted_of_the_commands_is_what_they_are(machine: Machine) -> None:
    machine.state.mkdir()
    tree = Tree()
    fresh = tree.entries()
    assert tree.name_finder() is not None
    assert (machine.state / "commands.json").is_file()
    second_tree = Tree()
    assert second_tree.entries() == fresh
    assert second_tree.missing() == {"faint (of strangers)": "RuntimeError: smelling salts"}
    assert second_tree.name_finder() is not None
    assert second_tree.command("ls").name == "ls"


def test_a_note_of_other_software_or_that_is_damaged_is_passed_over(machine: Machine) -> None:
    machine.state.mkdir()
    names = [entry.name for entry in Tree().entries()]
    note = machine.state / "commands.json"
    said = json.loads(note.read_text())
    for other in (
        json.dumps({**said, "software": "other", "commands": []}),
        json.dumps({**said, "commands": [{"unknown": 1}]}),
        "{half",
        "[]",
    ):
        note.write_text(other)
        assert [entry.name for entry in Tree().entries()] == names


def test_only_the_command_that_is_typed_is_loaded(machine: Machine) -> None:
    machine.state.mkdir()
    Tree().entries()
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*[m for m in sys.modules if m.startswith(('armarium_', 'strangers'))]))\n"
        "from armarium_cli import main\n"
        "main()\n"
    )
    for words, loaded in {"ls --help": {"armarium_documents"}, "projects --help": set()}.items():
        ran = subprocess.run(
            [sys.executable, "-c", script, *words.split()],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert {name.split(".")[0] for name in ran.stdout.splitlines()[-1].split()} == loaded | {
            "armarium_cli"
        }


LEFT_ALONE = {
    *("fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "pydantic", "httpx"),
    *("orjson", "pluggy", "stevedore", "lxml", "PIL", "numpy", "uuid_utils", "filelock", "psutil", "asyncio"),
}
"""Modules that no command needs when it only asks a running engine."""


@pytest.mark.parametrize(
    "words",
    sample(["ls", "--help", "--version", "ls --help", "history --limit 5", "text", "jobs", "segments 1.png --kind line",
     "projects", "engine", "undo", "plugins", "settings", "export --out out --overwrite", "action list", "token list"], 6),
)  # fmt: skip
def test_a_command_beside_a_running_engine_imports_no_server_code(read_pages: Machine, words: str) -> None:
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('IMPORTED', *sys.modules, file=sys.stderr))\n"
        "from armarium_cli import main\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *words.split()], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    loaded = set(ran.stderr.rpartition("IMPORTED")[2].split())
    assert loaded & LEFT_ALONE == set()
    assert not [name for name in loaded if name == "armarium.engine" or name.startswith("armarium.web")]


def complete(machine: Machine, typed: str) -> list[str]:
    """Return what completion offers for a line that ends with *typed*."""
    words = typed.split(" ")
    ran = subprocess.run(
        [sys.executable, "-c", "from armarium_cli import main; main()"],
        env={**os.environ, "_ARMARIUM_COMPLETE": "complete_bash", "COMP_WORDS": typed,
             "COMP_CWORD": str(len(words) - 1)},
        capture_output=True, text=True, timeout=60, cwd=machine.home,
    )  # fmt: skip
    assert ran.stderr == ""
    return ran.stdout.split()


def test_the_shell_is_offered_commands_options_and_names(read_pages: Machine) -> None:
    desk = read_pages
    assert complete(desk, "armarium proj") == ["projects"]
    assert {"letters", "ls", "lines", "link"} == set(complete(desk, "armarium l"))
    assert complete(desk, "armarium jobs clear") == ["clear-failed"]
    assert "--reader" in complete(desk, "armarium read --r")
    assert complete(desk, "armarium ls --library Let") == ["Letters"]
    assert complete(desk, "armarium read 1") == ["1.png"]
    assert complete(desk, "armarium read --library Letters 2") == ["2.png"]
    assert complete(desk, "armarium history --target 2") == ["2.png"]
    assert complete(desk, "armarium jobs mode st") == ["started"]


def test_without_an_engine_the_shell_is_offered_what_needs_none(machine: Machine) -> None:
    (machine.home / "Letters.library").mkdir()
    assert complete(machine, "armarium proj") == ["projects"]
    assert complete(machine, "armarium ls --library L") == ["Letters"]
    assert complete(machine, "armarium read 1") == []
    assert not (machine.state / "engine.json").exists()


@pytest.mark.parametrize(("shell", "place"), [
    ("bash", ".bash_completions/armarium.sh"), ("zsh", ".zfunc/_armarium"),
    ("fish", ".config/fish/completions/armarium.fish"),
])  # fmt: skip
def test_a_shell_is_taught_by_a_command(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, shell: str, place: str
) -> None:
    monkeypatch.setenv("HOME", str(machine.home))
    answer = machine.succeed("completion", "install", shell).out
    assert str(machine.home / place) in answer
    taught = (machine.home / place).read_text()
    assert taught.strip() == machine.succeed("completion", "show", shell).out.strip()
    assert "_ARMARIUM_COMPLETE" in taught
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(machine.home / place)], check=True)


def test_bash_completes_by_what_it_was_taught(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here to be taught")
    script = machine.succeed("completion", "show", "bash").out
    (machine.home / "armarium").write_text(f"#!{sys.executable}\nfrom armarium_cli import main\nmain()\n")
    (machine.home / "armarium").chmod(0o755)
    asked = f"{script}\nCOMP_WORDS=(armarium com); COMP_CWORD=1; _armarium_completion armarium; echo ${{COMPREPLY[@]}}"
    ran = subprocess.run(
        [bash, "-c", asked],
        env={**os.environ, "PATH": f"{machine.home}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert set(ran.stdout.split()) == {"compare", "completion"}


def test_a_shell_that_is_not_known_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer._completion_shared._get_shell_name", lambda: "tcsh")
    assert machine.expect_refusal("completion", "install").startswith(
        "The shell in use (tcsh) is none of bash, zsh, fish; name one."
    )


def test_the_program_is_a_typer_group() -> None:
    assert isinstance(typer.main.get_command(build()), typer.core.TyperGroup)


def test_creating_a_project_that_exists_says_how_to_open_it(desk: Machine, pictures: Pictures) -> None:
    desk.succeed("create", "Letters")
    refusal = desk.expect_refusal("create", "Letters")
    assert (
        refusal
        == "Letters.library already exists: name it in a request, which opens it, or choose another name."
    )
    desk.succeed("release")
    desk.succeed("ls", "--library", "Letters")
