"""A project for the tests of paleography: pages with lines and readings, and requests."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_paleography.records.likeness import vectors

FAMILIES = ("documents", "source_model", "paleography")
EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor", token_id="editor-token", token_kind="device")
MACHINE = replace(EDITOR, kind="machine", name="an agent", token_id="agent-token", token_kind="agent")
WIDTH, HEIGHT, ROW = 1000, 800, 80


@dataclass
class Page:
    """A page, its pass and its lines."""

    id: str
    pass_id: str
    lines: list[str]


@dataclass
class PaleographyProject:
    """Creates pages in a project, runs actions and sends requests."""

    engine: Engine
    library: Library
    client: Any

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def get(self, path: str, status: int = 200, **query: Any) -> dict[str, Any]:
        answer = self.client.get(f"/api{path}", params=query)
        assert answer.status_code == status, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def send(
        self, method: str, path: str, body: dict[str, Any] | None = None, status: int = 200
    ) -> dict[str, Any]:
        answer = self.client.request(method, f"/api{path}", json=body)
        assert answer.status_code == status, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def post(self, path: str, body: dict[str, Any] | None = None, status: int = 200) -> dict[str, Any]:
        return self.send("POST", path, body, status)

    def undo(self, audit_id: str, status: int = 200) -> dict[str, Any]:
        return self.post(f"/actions/audit/{audit_id}/undo", None, status)

    def hand(self, label: str = "Hand A") -> str:
        return str(self.post("/hands", {"label": label})["id"])

    def page(self, texts: list[str] | None = None, *, lines: int = 2, picture: bool = False) -> Page:
        """Create a page with a line for each of *texts*, or with *lines* unread lines."""
        count = len(texts) if texts is not None else lines
        page_id = (
            self._import_pictures(count)
            if picture
            else self.do("document.create", {"name": "f. 1r", "doc_type": "page"})["id"]
        )
        pass_id = str(self.do("segment.pass_create", {"document_id": page_id, "name": "Lines"})["id"])
        rects = [[0.1, (number * ROW + 25) / HEIGHT, 0.8, 40 / HEIGHT] for number in range(count)]
        made = [
            {"document_id": page_id, "pass_id": pass_id, "kind": "line", "anchor": {"rect": rect}}
            for rect in rects
        ]
        ids = [item["id"] for item in self.do("segment.create_many", {"segments": made})["items"]]
        for line, text in zip(ids, texts or (), strict=False):
            self.do("representation.create", {"segment_id": line, "text": text})
        return Page(page_id, pass_id, ids)

    def _import_pictures(self, count: int) -> str:
        from PIL import Image, ImageDraw

        image = Image.new("L", (WIDTH, HEIGHT), 235)
        draw = ImageDraw.Draw(image)
        for number in range(count):
            top = number * ROW + 30
            for x in range(100, 800, 8 + 3 * number):
                draw.rectangle((x, top, x + 3, top + 30), fill=30)
        file = io.BytesIO()
        image.save(file, "PNG")
        picture = {
            "checksum": self.library.objects.put_bytes(file.getvalue()),
            "mime_type": "image/png",
            "size_bytes": file.tell(),
            "pixel_width": WIDTH,
            "pixel_height": HEIGHT,
        }
        box = self.do("document.create", {"name": "Box"})["id"]
        page = new_id()
        node = {"id": page, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.png"}
        self.do("document.add_files", {"nodes": [{**node, "picture": picture}]})
        return page


def store_vectors(project: PaleographyProject, looks: Mapping[str, Sequence[float]]) -> None:
    """Store vectors of segments, as a worker would have computed them."""
    import numpy as np

    rows = [
        {
            "segment_id": line,
            "document_id": project.rows("SELECT document_id FROM segment WHERE id = ?", line)[0][0],
            "fingerprint": "made",
            "vector": np.array(look, dtype=np.float16).tobytes(),
        }
        for line, look in looks.items()
    ]
    with project.library.db.write() as conn:
        conn.execute(vectors.insert().prefix_with("OR REPLACE"), rows)
