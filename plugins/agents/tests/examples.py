"""Examples of the actions of agents: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example, raw_of
from armarium_agents.branches.groups import compare
from armarium_agents.branches.making import require_open


def page(ex: Example) -> str:
    return str(ex.run("document.create", {"name": "Letter", "doc_type": "page"})["id"])


def workspace_create(ex: Example) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Who wrote this?"}]
    return {
        "title": "The letters",
        "provider": "ollama",
        "messages": messages,
        "scoped_document_ids": [page(ex)],
    }


def workspace(ex: Example) -> str:
    return str(ex.run("workspace.create", workspace_create(ex))["id"])


def workspace_members(ex: Example) -> dict[str, Any]:
    note = ex.run("document.create", {"name": "Who is he?", "node_kind": "note", "page_content": "Who?"})[
        "id"
    ]
    workspace_id = workspace(ex)
    source = {"kind": "source", "target_id": page(ex)}
    first = ex.run("workspace.members", {"workspace_id": workspace_id, "add": [source]})["members"][0]["id"]
    added = {"kind": "note", "target_id": note, "label": "A question", "note": "Ask in the archive"}
    return {"workspace_id": workspace_id, "add": [added], "remove_ids": [first]}


def branch(ex: Example) -> str:
    return str(ex.run("branches.create", {"name": "Corrections"})["id"])


def changed_branch(ex: Example) -> str:
    """Return a branch with a change in it."""
    assert ex.library is not None
    created = ex.run("branches.create", {"name": "Corrections"})
    library = ex.engine.libraries.open_only(created["library_path"])
    ex.engine.run(library, "document.create", {"name": "Found", "doc_type": "page"}, ex.principal)
    return str(created["id"])


def branches_reject(ex: Example) -> dict[str, Any]:
    branch_id = changed_branch(ex)
    assert ex.library is not None
    with ex.library.db.read() as conn:
        library, card = require_open(conn, ex.engine, ex.library, branch_id)
        with library.db.read() as branch_conn:
            comparison = compare(raw_of(conn), raw_of(branch_conn), ex.library, card, "project")
    return {"branch_id": branch_id, "groups": list(comparison.groups), "reason": "It was there already"}


def branches_pack(ex: Example) -> dict[str, Any]:
    return {"branch_id": branch(ex), "path": str(ex.folder / "branch.zip")}


def branches_take(ex: Example) -> dict[str, Any]:
    packed = branches_pack(ex)
    ex.run("branches.pack", packed)
    return {"path": packed["path"]}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "workspace.create": workspace_create,
    "workspace.update": lambda ex: {
        "workspace_id": workspace(ex),
        "title": "Letters of 1650",
        "model": "qwen",
    },
    "workspace.delete": lambda ex: {"workspace_id": workspace(ex)},
    "workspace.members": workspace_members,
    "branches.create": lambda ex: {"name": "Corrections", "made_for": "the agent"},
    "branches.propose": lambda ex: {"branch_id": branch(ex), "summary": "12 pages corrected"},
    "branches.reject": branches_reject,
    "branches.delete": lambda ex: {"branch_id": branch(ex)},
    "branches.pack": branches_pack,
    "branches.take": branches_take,
    "branches.merge": lambda ex: {"branch_id": changed_branch(ex)},
    "branches.update": lambda ex: {"branch_id": changed_branch(ex)},
    "branches.start_merge": lambda ex: {"branch_id": changed_branch(ex)},
}
