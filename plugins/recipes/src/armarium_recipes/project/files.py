"""The files in a project's folder `recipe`: written after the commit, and reconciled when the project is
opened or an edit is noticed.

The rows are authoritative. An edited file is never overwritten unread: it is taken in, or refused with its
line, or, if the project has changed as well, left as it is with the project's own text beside it until a
person decides.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection

from armarium.api import (
    ActionContext,
    Engine,
    Library,
    Principal,
    ServiceError,
    flush_path,
    open_plain,
    replacing,
)
from armarium_recipes.models import files, overrides, proposals, setups, starts
from armarium_recipes.project import yaml_text
from armarium_recipes.project.plan import find_added_steps
from armarium_recipes.project.saving import read_saved
from armarium_recipes.project.yaml_text import Unreadable
from armarium_recipes.rules.checking import problems_of
from armarium_recipes.schemas.project import SaveSetup
from armarium_recipes.schemas.recipe import Problem

log = logging.getLogger("armarium.recipes")

EDITABLE = {"setup.yaml": "answers", "recipe.yaml": "recipe", "overrides.yaml": "overrides"}
"""The files that may be edited by hand, and the part of the project in each."""

HEADINGS = {
    "setup.yaml": "The answers about the material. Edits are taken in the next time the recipe is used.",
    "recipe.yaml": (
        "The recipe. Edits are taken in the next time the recipe is used; the engine counts the version."
    ),
    "overrides.yaml": (
        "Other models for steps of the recipe. Edits are taken in the next time the recipe is used."
    ),
    "started.yaml": ("When Start was last pressed. The engine writes this file; an edited one is set aside."),
    "proposed.yaml": (
        "What was added since the last Start. The engine writes this file; an edited one is set aside."
    ),
}

KEEPER = Principal("machine", "recipe files", "editor", folders=None)
"""The principal for taking in edited files: nobody knows who edited them."""

_LOCK = "recipes.files"


@dataclass(frozen=True)
class NotedFile:
    """What is noted about a file: the digest on which it last agreed with the project, and its state."""

    digest: str | None
    state: str
    why: str | None = None
    line: int | None = None
    kept_as: str | None = None


def lock_of(library: Library, name: str) -> Any:
    """Return the lock *name* of a project that is open."""
    return library.held.setdefault(name, threading.Lock())


def render_files(conn: Connection) -> dict[str, bytes | None]:
    """Return each file with the content of the rows; None for one that should not exist."""
    setup = read_saved(conn)
    answer = setup.answer()
    parts: dict[str, Any] = {
        "setup.yaml": answer["answers"],
        "recipe.yaml": answer["recipe"],
        "overrides.yaml": {"overrides": answer["overrides"]} if setup.overrides else None,
        "started.yaml": _read_start(conn),
        "proposed.yaml": find_added_steps(conn),
    }
    return {
        name: yaml_text.dump(part, HEADINGS[name]) if part is not None else None
        for name, part in parts.items()
    }


def _read_start(conn: Connection) -> dict[str, Any] | None:
    row = conn.execute(starts.select().order_by(starts.c.started_at.desc(), starts.c.id.desc())).first()
    if row is None:
        return None
    fields = ("started_at", "started_by", "recipe_id", "recipe_version", "pages")
    return {**{name: getattr(row, name) for name in fields}, "job_id": row.id, "redo": row.redo}


def digest_of(data: bytes | None) -> str | None:
    """Return the digest of a file's bytes; None if there is no file."""
    return hashlib.sha256(data).hexdigest() if data is not None else None


def read_file(library: Library, name: str) -> bytes | None:
    """Return the bytes of a file of the folder; None if it does not exist. Unreadable if it is not a plain file."""
    folder = library.path.resolve() / "recipe"
    try:
        with open_plain(folder / name, library.is_closed, within=folder) as file:
            return file.read(yaml_text.LONGEST + 1)
    except FileNotFoundError:
        return None
    except (OSError, ServiceError) as error:
        why = getattr(error, "strerror", None) or "it is not a plain file of this folder"
        raise Unreadable(f"It cannot be read ({why}).") from None


def write_file(library: Library, name: str, data: bytes | None) -> None:
    """Write a file under a temporary name and rename it; None removes it. OSError if the disk refuses."""
    folder = library.recipe
    folder.mkdir(exist_ok=True)
    path = folder / name
    if data is None:
        with suppress(FileNotFoundError):
            path.unlink()
    else:
        with replacing(path) as beside:
            beside.write_bytes(data)
            flush_path(beside)
    flush_path(folder)


def name_beside(name: str, word: str) -> str:
    """Return the name of a file that is placed beside another: `recipe.project.yaml`."""
    return f"{Path(name).stem}.{word}.yaml"


def noted_files(conn: Connection) -> dict[str, NotedFile]:
    """Return what is noted about each file."""
    return {
        row.name: NotedFile(row.digest, row.state, row.why, row.line, row.kept_as)
        for row in conn.execute(files.select())
    }


def note(conn: Connection, name: str, noted: NotedFile) -> None:
    """Note the state of a file."""
    conn.execute(files.delete().where(files.c.name == name))
    conn.execute(files.insert().values(name=name, **noted.__dict__))


def file_answers(conn: Connection) -> list[dict[str, Any]]:
    """Return the state of the files that a person may edit or that need a decision."""
    noted = noted_files(conn)
    fields = ("state", "why", "line", "kept_as")
    return [
        {"name": name, **{key: getattr(noted[name], key) for key in fields}}
        for name in HEADINGS
        if name in noted
    ]


def step_ends(ctx: ActionContext) -> None:
    """After a step, or an undo, that changed the content of the files: write them once the step is on disk."""
    if ctx.library is None:
        return
    if ctx.touched_tables((setups, overrides, starts, proposals)):
        library = ctx.library
        ctx.on_commit(lambda: write_files(library))


def write_files(library: Library) -> None:
    """Bring the files up to date with the rows; one edited meanwhile is left as it is, with the project's
    text beside it.
    """
    with lock_of(library, _LOCK):
        with library.db.read_all() as conn:
            texts, noted_now = render_files(conn), noted_files(conn)
        standing = {
            name: _write_one(library, name, text, noted_now.get(name)) for name, text in texts.items()
        }
        changed = {
            name: noted
            for name, noted in standing.items()
            if noted is not None and noted != noted_now.get(name)
        }
        if changed:
            with library.db.write() as conn:
                for name, noted in changed.items():
                    note(conn, name, noted)


def settle(engine: Engine, library: Library) -> None:
    """When a project is opened or a file is edited: write what a kill left unwritten, and take in edits."""
    write_files(library)
    with library.db.read_all() as conn:
        edited = [name for name, noted in noted_files(conn).items() if noted.state in ("edited", "refused")]
    for name in EDITABLE:
        if name in edited:
            _take_in(engine, library, name)


def _write_one(library: Library, name: str, text: bytes | None, noted: NotedFile | None) -> NotedFile | None:
    try:
        return _determine_state(library, name, text, noted)
    except OSError as error:
        log.warning("the file recipe/%s could not be written: %s", name, error.strerror)
        return noted


def _determine_state(library: Library, name: str, text: bytes | None, noted: NotedFile | None) -> NotedFile:
    """Return the state of a file after it was written, or left because somebody edited it."""
    fallen_out = noted.digest if noted is not None else None
    try:
        data = read_file(library, name)
    except Unreadable as fault:
        return NotedFile(fallen_out, "refused", fault.why, fault.line)
    ours = data is None or (noted is not None and digest_of(data) == noted.digest)
    if data == text or ours:
        if data != text:
            write_file(library, name, text)
        if noted is not None and noted.kept_as is not None:
            write_file(library, noted.kept_as, None)
        return NotedFile(digest_of(text), "in-step")
    if name not in EDITABLE:
        write_file(library, name_beside(name, "edited"), data)
        write_file(library, name, text)
        return NotedFile(digest_of(text), "in-step")
    if digest_of(text) == fallen_out:
        if noted is not None and noted.state == "refused":
            return noted
        return NotedFile(
            fallen_out, "edited", "It was edited by hand; it is taken in the next time the recipe is used."
        )
    kept_as = name_beside(name, "project")
    write_file(library, kept_as, text)
    why = (
        f"It was edited by hand, and the project has changed too; {kept_as} holds the project's "
        "version. Decide which one applies, or give the file the content of the project's version."
    )
    return NotedFile(fallen_out, "both-changed", why, kept_as=kept_as)


def _take_in(engine: Engine, library: Library, name: str) -> None:
    noted, data = NotedFile(None, "edited"), None
    try:
        with library.db.read_all() as conn:
            noted = noted_files(conn).get(name, noted)
        data = read_file(library, name)
        if data is None:
            return
        params = part_of(engine, library, name, data)
        digest = digest_of(data)

        def keep(ctx: ActionContext) -> None:
            note(ctx.conn, name, NotedFile(digest, "in-step"))

        engine.run(library, "project.save_setup", params, KEEPER, in_transaction=keep)
        write_files(library)
    except (Unreadable, ServiceError) as fault:
        why = fault.why if isinstance(fault, Unreadable) else fault.detail
        line = fault.line if isinstance(fault, Unreadable) else _line_of_refusal(data, fault)
        log.warning("the file recipe/%s was not taken in", name)
        with library.db.write() as conn:
            note(conn, name, NotedFile(noted.digest, "refused", why, line))


def find_malformed(engine: Engine, library: Library | None, recipe: object) -> list[Problem]:
    """Return what makes *recipe* malformed: saving refuses that; all other problems are reported before it is
    started.
    """
    return [problem for problem in problems_of(engine, library, recipe) if problem.kind == "malformed"]


def part_of(engine: Engine, library: Library, name: str, data: bytes) -> dict[str, Any]:
    """Return the parameters of `project.save_setup` for a file's bytes; Unreadable with the line of the error."""
    document = yaml_text.parse(data)
    part = EDITABLE[name]
    value = document.value
    if not isinstance(value, Mapping):
        raise Unreadable("It is not a mapping of keys to values.", 1)
    nested: tuple[str, ...] = ()
    if part == "overrides":
        if set(value) != {"overrides"}:
            raise Unreadable("It must have one key, overrides, with a list.", 1)
        value, nested = value["overrides"] or [], ("overrides",)
    params = {part: value}
    try:
        SaveSetup.model_validate(params)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key_path = (*nested, *(key for key in first["loc"][1:] if isinstance(key, str | int)))
        words = ".".join(map(str, key_path)) or "the whole"
        raise Unreadable(f"{words}: {first['msg']}.", document.line_of(key_path) or 1) from None
    if part == "recipe":
        for problem in find_malformed(engine, library, value):
            raise Unreadable(problem.sentence, _line_of_problem(document, problem))
    return params


def _line_of_refusal(data: bytes | None, refusal: ServiceError) -> int | None:
    """Return the line of the first key or value that the refusal names."""
    field_names = {field for field in refusal.fields.values() if isinstance(field, str)}
    return yaml_text.parse(data).line_of_word(field_names) if data is not None else None


def _line_of_problem(document: yaml_text.Document, problem: Problem) -> int | None:
    """Return the line of the place that a problem's sentence begins with (`steps.0.settings`), otherwise of
    its step.
    """
    place = problem.sentence.partition(":")[0]
    line_of_path = {".".join(map(str, path)): line for path, line in document.lines.items() if path}
    if place in line_of_path:
        return line_of_path[place]
    steps = document.value.get("steps")
    if problem.step is None or not isinstance(steps, list):
        return None
    at = next(
        (n for n, step in enumerate(steps) if isinstance(step, Mapping) and step.get("id") == problem.step),
        None,
    )
    return document.line_of(("steps", at)) if at is not None else None
