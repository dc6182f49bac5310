"""A project of its own for one reported case: its files come in as a user's do, and everything is asked over HTTP."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER

CASES = Path(
    os.environ.get("ARMARIUM_SHARED_CASES", Path(__file__).parents[3] / "shared" / "cases")
).resolve()


@dataclass
class CaseProject:
    """A new project of the one engine, and a folder for what it writes."""

    engine: Engine
    client: Any
    place: Path
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        self.path = self.place / "Case.library"
        self.engine.run(None, "library.create", {"path": str(self.path)}, LOCAL_OWNER)

    def ask(self, method: str, path: str, *, status: int | None = None, **request: Any) -> Any:
        """Send a request that should be answered with *status*, or succeed; return its JSON."""
        headers = {"X-Service-Library-Path": quote(str(self.path))}
        answer = self.client.request(method, path, headers=headers, **request)
        expected = answer.is_success if status is None else answer.status_code == status
        assert expected, f"{method} {path}: {answer.status_code} {answer.text[:800]}"
        return answer.json()

    def act(self, name: str, **params: Any) -> dict[str, Any]:
        """Invoke an action, then do the work that it started; return its result."""
        answer = self.ask("POST", "/api/actions/invoke", json={"name": name, "params": params})
        self.work()
        result: dict[str, Any] = answer["result"]
        return result

    def work(self) -> None:
        self.engine.jobs.run_until_idle(self.engine.libraries.get(self.path))

    def bring(self, *files: Path, status: int | None = None) -> dict[str, Any]:
        """Import files together; return the answer: documents, passes with notes, what was refused."""
        answer = self.ask(
            "POST", "/api/ingest/files", json={"paths": [str(file) for file in files]}, status=status
        )
        self.work()
        return dict(answer)

    def bring_case(self, name: str, *, status: int | None = None) -> dict[str, Any]:
        """Import the files of a case except its README."""
        return self.bring(
            *sorted(entry for entry in (CASES / name).iterdir() if entry.name != "README"), status=status
        )

    def bring_folder(self, folder: Path) -> list[dict[str, Any]]:
        """Import a folder; return the job and its children, done."""
        started = self.ask("POST", "/api/documents/import", json={"folder": str(folder)})
        self.work()
        job = self.ask("GET", f"/api/activity/jobs/{started['job_id']}")
        return [job, *(self.ask("GET", f"/api/activity/jobs/{child['id']}") for child in job["children"])]

    def documents(self, parent: str | None = None) -> list[dict[str, Any]]:
        """Return the documents below one, depth first in the order of siblings."""
        query = {"parent_id": parent} if parent else {}
        answer = self.ask("GET", "/api/documents", params=query)["items"]
        return list(itertools.chain.from_iterable([item, *self.documents(item["id"])] for item in answer))

    def names(self) -> list[str]:
        """Return the names of pages and files, in order."""
        return [document["name"] for document in self.documents() if document["doc_type"] != "folder"]

    def page(self, name: str | None = None) -> str:
        """Return the id of the page of that name, or of the only one."""
        (identity,) = [
            document["id"]
            for document in self.documents()
            if document["name"] == name or (name is None and document["doc_type"] != "folder")
        ]
        return str(identity)

    def sizes(self) -> Iterator[tuple[int, int]]:
        """Yield width and height of each page's picture, in order."""
        for document in self.documents():
            if document["doc_type"] in ("file", "page"):
                for picture in self.ask("GET", f"/api/documents/{document['id']}/renditions")["items"][:1]:
                    if picture["pixel_width"]:
                        yield picture["pixel_width"], picture["pixel_height"]

    def lines(self, page: str) -> list[dict[str, Any]]:
        answer = self.ask("GET", f"/api/segments/document/{page}")["segments"]
        return [item for item in answer if item["kind"] == "line"]

    def text(self, page: str) -> str:
        return str(self.ask("GET", f"/api/segments/document/{page}/text")["text"])

    def correct(self, page: str, old: str, new: str) -> None:
        """Correct the one line that reads *old*."""
        (line,) = [line["id"] for line in self.lines(page) if line["text"] == old]
        self.ask("POST", f"/api/segments/{line}/correct", json={"text": new})

    def export(self, page: str, form: str) -> tuple[str, dict[str, int]]:
        """Return what is written of a page, and how many of what it could not carry."""
        answer = self.ask("GET", f"/api/documents/{page}/export/{form}")
        return str(answer["content"]), {loss["what"]: loss["count"] for loss in answer["losses"]}

    def finds(self, query: str) -> bool:
        self.work()
        answer = self.ask("POST", "/api/search", json={"query": query, "search_type": "fulltext"})
        return bool(answer["results"])

    def entity(self, name: str, kind: str = "person") -> str:
        answer = self.ask("POST", "/api/entities", json={"canonical_name": name, "entity_type": kind})
        return str(answer["id"])

    def run_step(self, tool: str, page: str, **settings: Any) -> dict[str, Any]:
        """Run one step of recipes on a page, as a workflow; return how its job ended."""
        flow = self.ask("GET", f"/api/workflows/system-{tool}")
        nodes = [{key: node[key] for key in ("id", "tool", "config")} for node in flow["nodes"]]
        nodes[1]["config"] = settings
        fields = {"name": tool, "nodes": nodes, "edges": flow["edges"]}
        answer = self.ask("POST", "/api/workflows", json=fields)
        run = self.ask("POST", f"/api/workflows/{answer['id']}/execute", json={"scope_ids": [page]})
        self.work()
        told: dict[str, Any] = self.ask("GET", f"/api/workflow-execution/threads/{run['thread_id']}")
        return told
