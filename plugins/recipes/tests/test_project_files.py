"""Files in the folder `recipe`: written after the commit, edited by hand, hostile, or interrupted between commit and
file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from armarium.api import Engine, Library
from armarium_recipes.actions.setup import example_answers, example_recipe
from armarium_recipes.project import files
from armarium_recipes.project.yaml_text import Unreadable, parse

URL = "/api/recipes/project"


@pytest.fixture
def save(client: Any) -> Callable[..., dict[str, Any]]:
    """Saves parts of the setup."""

    def put(**parts: Any) -> dict[str, Any]:
        answer = client.put(URL, json=parts)
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    return put


@pytest.fixture
def reopen(engine: Engine, library: Library) -> Callable[[], None]:
    """Runs what the opening of a project runs."""
    return lambda: files.settle(engine, library)


def _states(client: Any) -> dict[str, tuple[str, int | None]]:
    return {file["name"]: (file["state"], file["line"]) for file in client.get(URL).json()["files"]}


def _edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_files_are_written_after_the_commit_and_follow_an_undo(
    save: Any, client: Any, library: Library
) -> None:
    """Checked with PyYAML, which the engine does not use for these files."""
    first = save(answers=example_answers(), recipe=example_recipe())
    folder = library.recipe
    assert yaml.safe_load((folder / "setup.yaml").read_text())["materials"] == ["typescript"]
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    assert recipe == first["recipe"]
    assert not (folder / "overrides.yaml").exists()
    second = save(recipe={**example_recipe(), "title": "Second"})
    client.post("/api/actions/audit/undo", json={"audit_ids": [second["audit_id"]]})
    assert yaml.safe_load((folder / "recipe.yaml").read_text())["title"] == "Typed letters"
    client.post("/api/actions/audit/undo", json={"audit_ids": [first["audit_id"]]})
    assert not (folder / "recipe.yaml").exists()


def test_an_unchanged_save_leaves_the_file_as_it_is(save: Any, library: Library) -> None:
    """Not even its modification time changes."""
    save(recipe=example_recipe())
    path = library.recipe / "recipe.yaml"
    os.utime(path, (1, 1))
    save(recipe=example_recipe())
    assert path.stat().st_mtime == 1


def test_an_edited_file_is_taken_in_when_the_project_is_opened(
    save: Any, reopen: Any, client: Any, library: Library
) -> None:
    """The edit becomes a step of `project.save_setup`, which is undone like any other save."""
    save(answers=example_answers(), recipe=example_recipe())
    _edit(library.recipe / "recipe.yaml", "Typed letters", "Letters of a ship")
    _edit(library.recipe / "setup.yaml", "- en", "- no")
    reopen()
    answer = client.get(URL).json()
    assert answer["recipe"]["title"] == "Letters of a ship"
    assert answer["answers"]["languages"] == ["no"]
    assert answer["recipe"]["version"] == 3
    assert set(_states(client).values()) == {("in-step", None)}
    reopen()
    assert client.get(URL).json()["recipe"]["version"] == 3
    step = client.get("/api/actions/audit", params={"limit": 1}).json()["items"][0]
    assert step["action_name"] == "project.save_setup"
    assert client.post("/api/actions/audit/undo", json={"audit_ids": [step["id"]]}).status_code == 200


FAULTS = [
    ("job: find-lines", "job: find-lines\n  command: rm -rf"),
    ("version: 1", "version: one"),
    ("settings: {}", "settings:\n    api_key: sk-1"),
    ("id: letters", "id: letters\nid: twice"),
    ("title: Typed letters", "title: !!python/object/apply:os.system [true]"),
]


def test_a_faulty_edit_is_refused_with_its_line_and_the_project_opens(
    save: Any, reopen: Any, client: Any, library: Library
) -> None:
    """The file keeps the edit, and the project its own recipe."""
    save(recipe=example_recipe())
    path = library.recipe / "recipe.yaml"
    for before, after in FAULTS:
        _edit(path, before, after)
        line = next(
            n
            for n, text in enumerate(path.read_text().splitlines(), 1)
            if after.split("\n")[-1].strip() in text
        )
        reopen()
        assert _states(client)["recipe.yaml"] == ("refused", line)
        assert client.get(URL).json()["recipe"]["title"] == "Typed letters"
        assert after in path.read_text()
        path.write_text(path.read_text().replace(after, before, 1))
        reopen()
        assert _states(client)["recipe.yaml"] == ("in-step", None)


def test_where_both_changed_both_are_kept_until_a_person_decides(
    save: Any, reopen: Any, client: Any, library: Library
) -> None:
    """The decision may be for the file or for the project."""
    save(recipe=example_recipe())
    path, ours = library.recipe / "recipe.yaml", library.recipe / "recipe.project.yaml"
    for keep, title in (("file", "By hand, file"), ("project", "By the route, 2")):
        _edit(path, yaml.safe_load(path.read_text())["title"], f"By hand, {keep}")
        save(recipe={**example_recipe(), "title": "By the route, 2" if keep == "project" else "By the route"})
        assert _states(client)["recipe.yaml"][0] == "both-changed"
        reopen()
        assert _states(client)["recipe.yaml"][0] == "both-changed"
        assert "By hand" in path.read_text()
        assert "By the route" in ours.read_text()
        body = {"name": "project.decide_file", "params": {"name": "recipe.yaml", "keep": keep}}
        answer = client.post("/api/actions/invoke", json=body)
        assert answer.status_code == 200, answer.text
        assert client.get(URL).json()["recipe"]["title"] == title
        assert yaml.safe_load(path.read_text())["title"] == title
        assert not ours.exists()
        assert _states(client)["recipe.yaml"][0] == "in-step"
    assert "By hand" in (library.recipe / "recipe.edited.yaml").read_text()


def test_deciding_is_refused_where_there_is_nothing_to_decide(
    save: Any, client: Any, library: Library
) -> None:
    """Of an engine's own file, of one that did not change, and of one that cannot be read."""

    def decide(name: str, keep: str = "file") -> Any:
        body = {"name": "project.decide_file", "params": {"name": name, "keep": keep}}
        return client.post("/api/actions/invoke", json=body)

    save(recipe=example_recipe())
    assert decide("started.yaml").json()["code"] == "recipe_file_not_found"
    assert decide("recipe.yaml").json()["code"] == "nothing_to_decide"
    (library.recipe / "recipe.yaml").write_text("steps: &a [*a]")
    refused = decide("recipe.yaml")
    assert (refused.status_code, refused.json()["code"], refused.json()["line"]) == (
        422,
        "recipe_file_refused",
        1,
    )


def test_a_kill_between_commit_and_file_is_settled_at_opening(
    save: Any, reopen: Any, client: Any, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written on opening, and is not mistaken for an edit."""
    save(recipe=example_recipe())
    with monkeypatch.context() as patch:
        patch.setattr(files, "write_files", lambda library: None)
        save(recipe={**example_recipe(), "title": "Second"})
    path = library.recipe / "recipe.yaml"
    assert "Typed letters" in path.read_text()
    reopen()
    assert yaml.safe_load(path.read_text())["title"] == "Second"
    assert client.get(URL).json()["recipe"]["version"] == 2


def test_a_file_that_was_removed_is_written_again_and_a_foreign_one_taken_in(
    save: Any, reopen: Any, client: Any, library: Library
) -> None:
    """A file in the folder of a new project becomes part of its recipe."""
    (library.recipe / "setup.yaml").write_text("purposes: [search]\nlanguages: [de]\nscripts: [Latn]\n")
    reopen()
    assert client.get(URL).json()["answers"]["purposes"] == ["search"]
    save(recipe=example_recipe())
    (library.recipe / "recipe.yaml").unlink()
    reopen()
    assert (library.recipe / "recipe.yaml").exists()


def test_the_engines_own_files_are_restored_with_the_edit_beside_them(
    engine: Engine, library: Library, reopen: Any
) -> None:
    """Editing started.yaml starts no recipe."""
    (library.recipe / "started.yaml").write_text("recipe_version: 99\n")
    reopen()
    assert not (library.recipe / "started.yaml").exists()
    assert (library.recipe / "started.edited.yaml").read_text() == "recipe_version: 99\n"


def test_an_unreadable_file_is_refused_and_the_project_opens(
    save: Any, reopen: Any, client: Any, library: Library, tmp_path: Path
) -> None:
    """A folder in its place, a link out of the project, invalid UTF-8, 10 MB, two documents, a list."""
    save(recipe=example_recipe())
    path = library.recipe / "recipe.yaml"
    (tmp_path / "elsewhere.yaml").write_text("id: x\ntitle: Elsewhere\n")
    texts = {
        "bytes": b"id: \xff\xfe",
        "large": b"# x\n" * 2_600_000,
        "several": b"id: x\n---\nid: y\n",
        "list": b"- a\n",
    }
    for kind in ("folder", "link", *texts):
        path.rmdir() if path.is_dir() else path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(tmp_path / "elsewhere.yaml")
        else:
            path.write_bytes(texts[kind])
        reopen()
        assert _states(client)["recipe.yaml"][0] == "refused", kind
        assert client.get(URL).json()["recipe"]["title"] == "Typed letters"


HOSTILE = {
    "aliases": "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
    "tags": "a: !!python/name:os.system ''\n",
    "deep": "[" * 2000,
    "many": "[" + "1," * 60_000 + "1]",
    "keys": "? [a, b]\n: c\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_yaml_is_refused_in_words_at_once(name: str) -> None:
    """Aliases are not expanded, and no objects are constructed."""
    with pytest.raises(Unreadable) as refusal:
        parse(HOSTILE[name].encode())
    assert refusal.value.line is not None
    assert refusal.value.why.endswith(".")


def test_words_that_other_readers_take_for_something_else_stay_words() -> None:
    """`no` is Norwegian, 12:30 is not a number, and a date stays as written."""
    value = parse(b"a: [no, yes, on, 12:30, 2026-11-23, 0o17, true, null, 3, 1.5, '3']\n").value
    assert value == {"a": ["no", "yes", "on", "12:30", "2026-11-23", "0o17", True, None, 3, 1.5, "3"]}
