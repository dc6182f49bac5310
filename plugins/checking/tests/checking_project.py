"""A project for the tests of checking: pages with ink, lines, and readings by several readers."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER

MACHINE = replace(
    LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_id="agent-1", token_kind="agent"
)
WIDTH, HEIGHT, ROW = 1000, 800, 80
BUILTIN = {"provider": "builtin", "model": "agreement"}


@dataclass
class CheckingProject:
    """Creates pages and readings in a project, runs checks and queries the verdicts."""

    engine: Engine
    library: Library
    client: Any

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def page(self, inked: list[float]) -> tuple[str, str, list[str]]:
        """Create a page with a line for each of *inked*, its ink as wide as stated (0 to 0.8); return (page,
        pass, lines).
        """
        from PIL import Image, ImageDraw

        image = Image.new("L", (WIDTH, HEIGHT), 235)
        draw = ImageDraw.Draw(image)
        for number, reach in enumerate(inked):
            top = number * ROW + 30
            for x in range(100, 100 + int(reach * WIDTH), 8):
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
        pass_id = self.new_pass(page)
        return page, pass_id, self.lines(page, pass_id, len(inked))

    def new_pass(self, page: str) -> str:
        return str(self.do("segment.pass_create", {"document_id": page, "name": "Lines"})["id"])

    def lines(self, page: str, pass_id: str, count: int) -> list[str]:
        rects = [[0.1, (number * ROW + 25) / HEIGHT, 0.8, 40 / HEIGHT] for number in range(count)]
        made = [
            {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": {"rect": rect}}
            for rect in rects
        ]
        return [item["id"] for item in self.do("segment.create_many", {"segments": made})["items"]]

    def read(self, page: str, pass_id: str, lines: list[str], texts: list[str], by: str) -> None:
        """Create readings of *lines* by the reader *by*."""
        readings = [
            {"segment_id": line, "text": text} for line, text in zip(lines, texts, strict=True) if text
        ]
        self.do(
            "reading.take",
            {"document_id": page, "pass_id": pass_id, "provider": by, "model": by, "readings": readings},
            MACHINE,
        )

    def check(self, scope: str, **more: Any) -> dict[str, Any]:
        """Run the checker that needs no model to its end; return the run."""
        body = {"layer": "readings", "scope_ids": [scope], "checker": BUILTIN, **more}
        answer = self.client.post("/api/check/runs", json=body)
        assert answer.status_code == 200, answer.text
        self.engine.jobs.run_until_idle(self.library)
        found_answer: dict[str, Any] = self.client.get(f"/api/check/runs/{answer.json()['job_id']}").json()
        return found_answer

    def verdicts(self, **query: Any) -> list[dict[str, Any]]:
        """Return the verdicts, oldest first."""
        items: list[dict[str, Any]] = self.client.get("/api/check/verdicts", params=query).json()["items"]
        return items[::-1]
