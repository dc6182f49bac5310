"""Fixtures for the tests of bake-offs: a project of corrected pages, and short ways to run bake-offs over them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_reading.api import READERS

URL = "/api/recipes/project/bakeoffs"
ROWS = 60
LIGHT, DARK = 250, 240


@dataclass
class Desk:
    """A project with the owner's client, and short ways to run actions, make pages and run bake-offs."""

    engine: Engine
    library: Library
    client: Any
    shade: int = 0

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def give(self, *readers: Any) -> None:
        """Install readers, and no others."""
        self.engine.drivers._found[READERS] = {}
        self.engine.drivers._given[READERS] = {}
        for reader in readers:
            self.engine.drivers.give(READERS, reader.name, reader)

    def set_up(self, material: str = "handwriting", **more: Any) -> None:
        """Save answers to the setup, and a recipe that finds lines and reads them."""
        answers = {
            "purposes": ["transcribe"],
            "languages": ["en"],
            "scripts": ["Latn"],
            "materials": [material],
        }
        steps = [
            {"id": "find-lines", "job": "find-lines", "layer": "lines"},
            {"id": "read", "job": "read-a-line", "layer": "reading", "applies_to": "lines"},
        ]
        recipe = {"id": "letters", "title": "Letters", "steps": steps}
        saved = {"answers": {**answers, **more}, "recipe": recipe}
        assert self.client.put("/api/recipes/project", json=saved).status_code == 200

    def page(self, lines: int = ROWS, shade: int = LIGHT, checked: bool = True) -> tuple[str, list[str]]:
        """Create a page whose n-th row shows `line n`, with its ground truth; return (page, lines)."""
        from PIL import Image

        # One pixel differs, so that no two pages have the same picture.
        self.shade += 1
        image = Image.new("L", (200, 610), shade)
        image.putpixel((199, 609), self.shade % 200)
        file = io.BytesIO()
        image.save(file, "PNG")
        picture = {
            "checksum": self.library.objects.put_bytes(file.getvalue()),
            "mime_type": "image/png",
            "size_bytes": len(file.getvalue()),
            "pixel_width": 200,
            "pixel_height": 610,
        }
        box = self.do("document.create", {"name": "Box", "doc_type": "folder"})["id"]
        page = new_id()
        node = {"id": page, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.png"}
        self.do("document.add_files", {"nodes": [{**node, "picture": picture}]})
        shapes = [
            {"key": str(row), "rect": [0.1, row / 61, 0.8, 0.8 / 61], "text": f"line {row}"}
            for row in range(lines)
        ]
        taken = {
            "document_id": page,
            "name": "Checked",
            "provider": "sample",
            "model": "sample",
            "lines": shapes,
        }
        result = self.do("segment.take_lines", taken)
        if checked:
            self.do("segment.pass_ground_truth", {"pass_id": result["pass_id"], "ground_truth": True})
        return page, result["segment_ids"]

    def start(self, **body: Any) -> dict[str, Any]:
        """Start a bake-off; return the answer."""
        answer = self.client.post(URL, json=body)
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        assert answer.headers["x-service-audit-id"] == found_answer["audit_id"]
        return found_answer

    def run(self, **body: Any) -> dict[str, Any]:
        """Run a bake-off to its end; return it as it is answered then."""
        return self.finish(self.start(**body)["id"])

    def finish(self, bakeoff_id: str) -> dict[str, Any]:
        self.engine.jobs.run_until_idle(self.library)
        answer: dict[str, Any] = self.client.get(f"{URL}/{bakeoff_id}").json()
        return answer

    def expect_refusal(self, code: str, status: int = 422, **body: Any) -> dict[str, Any]:
        """Check that a bake-off is refused with *code* and that no job was queued; return the refusal."""
        answer = self.client.post(URL, json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert self.rows("SELECT 1 FROM job WHERE kind IN ('evaluate-models', 'compare-line-finders')") == []
        found_answer: dict[str, Any] = answer.json()
        return found_answer


def row_of(bakeoff: dict[str, Any], card: str) -> dict[str, Any]:
    """Return the row of a card."""
    (candidate,) = [candidate for candidate in bakeoff["candidates"] if candidate["card"] == card]
    return candidate
