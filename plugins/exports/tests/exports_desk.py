"""A project to export from, for the tests of exports: pictured pages with lines, readings, people at work, rights."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER

MACHINE = replace(
    LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_id="agent-1", token_kind="agent"
)
WIDTH, HEIGHT = 1200, 900


@dataclass
class Desk:
    """Short ways to do and to look."""

    engine: Engine
    library: Library
    client: Any
    folder: Path

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def step(self, name: str, params: dict[str, Any]) -> str:
        return str(self.engine.run(self.library, name, params, LOCAL_OWNER).audit_id)

    def undo(self, audit_id: str) -> str:
        return str(self.engine.undo(self.library, [audit_id], LOCAL_OWNER)["audit_ids"][0])

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def work(self) -> None:
        """Have all work done; what is changed afterwards waits until this is called again."""
        self.engine.jobs.run_until_idle(self.library)
        self.engine.jobs.stop()

    def box(self, name: str = "Letters", parent_id: str | None = None, doc_type: str = "folder") -> str:
        given = {"name": name, "doc_type": doc_type} | ({"parent_id": parent_id} if parent_id else {})
        return str(self.do("document.create", given)["id"])

    def page(self, box: str, name: str, texts: list[str], size: tuple[int, int] = (WIDTH, HEIGHT)) -> str:
        """A page with a grey picture that has a dark bar for each of *texts*, and a line with that reading on each."""
        from PIL import Image, ImageDraw

        image = Image.new("L", size, 235)
        draw = ImageDraw.Draw(image)
        for number in range(len(texts)):
            draw.rectangle(_pixels(number, size), fill=30 + number)
        file = io.BytesIO()
        image.save(file, "PNG")
        picture = {
            "checksum": self.library.objects.put_bytes(file.getvalue()),
            "mime_type": "image/png",
            "size_bytes": file.tell(),
            "pixel_width": size[0],
            "pixel_height": size[1],
        }
        page = new_id()
        node = {"id": page, "parent_id": box, "doc_type": "file", "file_type": "image", "name": name}
        self.do("document.add_files", {"nodes": [{**node, "picture": picture}]})
        self.write(page, texts)
        return page

    def write(self, page: str, texts: list[str]) -> list[str]:
        """A pass of lines with these readings by a person; the segments."""
        pass_id = self.do("segment.pass_create", {"document_id": page, "name": "Lines"})["id"]
        rects = [[0.1, 0.05 + 0.1 * n, 0.8, 0.06] for n in range(len(texts))]
        made = [
            {
                "document_id": page,
                "pass_id": pass_id,
                "kind": "line",
                "anchor": {"rect": rect},
                "baseline": [[0.1, rect[1] + 0.05], [0.9, rect[1] + 0.05]],
            }
            for rect in rects
        ]
        if not made:
            return []
        lines = [item["id"] for item in self.do("segment.create_many", {"segments": made})["items"]]
        for line, text in zip(lines, texts, strict=True):
            if text:
                self.do("representation.create", {"segment_id": line, "text": text})
        return lines

    def lines(self, page: str) -> list[str]:
        return [row[0] for row in self.rows("SELECT id FROM segment WHERE document_id = ? ORDER BY id", page)]

    def restrict(self, target_id: str, kind: str = "document", **more: Any) -> str:
        given = {"target_kind": kind, "target_id": target_id, "restricted": True, **more}
        return str(self.do("rights.set", given)["id"])

    def post(self, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
        answer = self.client.post(path, json=body)
        assert answer.status_code == status, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def records(self, place: Path) -> dict[str, list[dict[str, Any]]]:
        """The records of a JSON Lines file by type."""
        found: dict[str, list[dict[str, Any]]] = {}
        for line in place.read_bytes().splitlines():
            record = orjson.loads(line)
            found.setdefault(record["record_type"], []).append(record)
        return found

    def list_kept(self) -> list[dict[str, Any]]:
        exports: list[dict[str, Any]] = self.client.get("/api/export/kept").json()["exports"]
        return exports


def _pixels(number: int, size: tuple[int, int]) -> tuple[int, int, int, int]:
    top = 0.05 + 0.1 * number
    return (int(0.1 * size[0]), int(top * size[1]), int(0.9 * size[0]), int((top + 0.06) * size[1]))
