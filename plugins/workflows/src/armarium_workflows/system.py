"""The workflows that ship: one per recipe job, derived from its declaration, in the folders of the palette."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import RecipeJob

FOLDERS: tuple[dict[str, Any], ...] = tuple(
    {"path": path, "display_name": name, "sort_order": order, "icon": icon}
    for order, (path, name, icon) in enumerate(
        (
            ("/prepare", "Prepare", "wand"),
            ("/find-regions", "Find regions", "grid"),
            ("/read", "Read", "text"),
            ("/clean", "Clean", "brush"),
            ("/translate", "Translate", "globe"),
            ("/extract", "Extract", "table"),
            ("/catalogue", "Catalogue", "tag"),
        )
    )
)
"""The folders in the order of the work."""

_OF_JOB = {"correct": "/clean", "translate-transliterate-normalise": "/translate"}
_OF_LAYER = {
    "prepare": "/prepare",
    "lines": "/find-regions",
    "reading": "/read",
    "train": "/read",
    "check": "/clean",
    "structure": "/extract",
    "entities": "/extract",
    "graph": "/extract",
    "places": "/extract",
    "vectors": "/extract",
    "catalogue": "/catalogue",
    "knowledge": "/catalogue",
    "output": "/catalogue",
}
PREFIX = "system-"


def system_workflows(jobs: Mapping[str, RecipeJob]) -> dict[str, dict[str, Any]]:
    """Return the workflows that ship, by id: one per recipe job, and one that finds lines and reads them."""
    workflows = [_one_job(job, order) for order, job in enumerate(jobs.values())]
    if {"find-lines", "read-a-line"} <= jobs.keys():
        workflows.append(_find_and_read(jobs, len(workflows)))
    return {workflow["id"]: workflow for workflow in workflows}


def _one_job(job: RecipeJob, order: int) -> dict[str, Any]:
    edges = [_edge("pages", "pages", "work", material) for material in job.takes]
    return _workflow(
        job.id,
        job.name,
        job.description,
        _folder(job),
        order,
        [_node("work", job.id)],
        [*edges, _find_last("work", job)],
    )


def _find_and_read(jobs: Mapping[str, RecipeJob], order: int) -> dict[str, Any]:
    read = jobs["read-a-line"]
    edges = [
        _edge("pages", "pages", "find", "page_image"),
        _edge("find", "lines", "read", "lines"),
        _find_last("read", read),
    ]
    nodes = [_node("find", "find-lines"), _node("read", "read-a-line")]
    summary = "Finds the lines of each page and reads them."
    return _workflow("find-and-read", "Find and read lines", summary, "/read", order, nodes, edges)


def _folder(job: RecipeJob) -> str:
    return _OF_JOB.get(job.id, _OF_LAYER[job.layer])


def _node(identity: str, tool: str) -> dict[str, Any]:
    return {"id": identity, "tool": tool}


def _edge(source: str, source_port: str, target: str, target_port: str) -> dict[str, Any]:
    ends = {"source": source, "source_port": source_port, "target": target, "target_port": target_port}
    return {"id": f"{source}-{target}-{target_port}", **ends}


def _find_last(source: str, job: RecipeJob) -> dict[str, Any]:
    return _edge(source, "result", "result", "value")


def _workflow(
    identity: str,
    name: str,
    description: str,
    folder: str,
    order: int,
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "id": f"{PREFIX}{identity}",
        "name": name,
        "description": description,
        "folder_path": folder,
        "sort_order": order,
        "is_template": False,
        "is_system": True,
        "tags": [],
        "nodes": [_node("pages", "input"), *nodes, _node("result", "output")],
        "edges": edges,
        "config": {},
        "provider": None,
        "model": None,
        "created_at": None,
        "updated_at": None,
    }
