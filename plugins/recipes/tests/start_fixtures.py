"""Fixtures for the tests of Start: a project with small pages that are quick to process, and short ways to run recipes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from armarium.api import Engine, Library, new_id
from armarium.principals import LOCAL_OWNER

URL = "/api/recipes/project"


def step(job: str, layer: str, identity: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a step that works without a model."""
    card = {"id": f"builtin:{job}@1", "source": "shipped"}
    return {"id": identity or job, "job": job, "layer": layer, "card": card, **more}


ANSWERS = {"purposes": ["transcribe"], "languages": ["en"], "scripts": ["Latn"], "materials": ["typescript"]}


def picture(rows: int = 2, width: int = 100) -> bytes:
    """Return a PNG with dark rows on white."""
    from PIL import Image

    image = Image.new("RGB", (width, 80), "white")
    for row in range(rows):
        image.paste("black", (10, 10 + row * 25, width - 10, 18 + row * 25))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


class Desk:
    """A project with the owner's client, and short ways to make pages, save a recipe and run it."""

    def __init__(self, engine: Engine, library: Library, client: Any) -> None:
        self.engine, self.library, self.client = engine, library, client

    def do(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run an action as the owner."""
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def folder(self, name: str = "Box") -> str:
        """Create a folder; return its id."""
        result: str = self.do("document.create", {"name": name, "doc_type": "folder"})["id"]
        return result

    def pages(self, count: int, parent: str | None = None, **how: Any) -> list[str]:
        """Create pages with pictures in one step; return their ids."""
        parent = parent or self.folder()
        ids = [new_id() for _ in range(count)]
        self.do(
            "document.add_files",
            {"nodes": [self.node(identity, n, parent, **how) for n, identity in enumerate(ids)]},
        )
        return ids

    def node(self, page: str, number: int, parent: str | None, **how: Any) -> dict[str, Any]:
        """Return a picture as an import writes it."""
        data = picture(**how) + page.encode()
        shown = {
            "checksum": self.library.objects.put_bytes(data),
            "mime_type": "image/png",
            "size_bytes": len(data),
            "pixel_width": how.get("width", 100),
            "pixel_height": 80,
        }
        names = {"doc_type": "file", "file_type": "image", "name": f"{number + 1}.png"}
        return {"id": page, "parent_id": parent, **names, "picture": shown}

    def damage(self, page: str) -> None:
        """Overwrite the picture of a page on disk."""
        with self.library.db.read() as conn:
            (checksum,) = conn.exec_driver_sql(
                "SELECT checksum FROM rendition WHERE document_id = ?", (page,)
            ).one()
        path = self.library.objects.path(checksum)
        path.chmod(0o600)
        path.write_bytes(b"no picture")

    def lines(self, page: str, texts: Sequence[str] = (), count: int = 2) -> list[str]:
        """Draw lines on a page as a person, and write *texts* as their readings; return the lines' ids."""
        pass_id = self.do("segment.pass_create", {"document_id": page, "name": "By hand"})["id"]
        line = {"document_id": page, "pass_id": pass_id, "kind": "line"}
        number = len(texts) or count
        pitch = min(0.3, 0.85 / number)
        places = [{"rect": [0.1, 0.1 + pitch * n, 0.8, pitch * 2 / 3]} for n in range(number)]
        result = self.do(
            "segment.create_many", {"segments": [{**line, "anchor": place} for place in places]}
        )["items"]
        ids = [item["id"] for item in result]
        for segment, text in zip(ids, texts, strict=False):
            self.do("representation.create", {"segment_id": segment, "text": text})
        return ids

    def recipe(self, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Save a recipe of *steps* (at least id, job and layer); return the answer."""
        body = {
            "answers": {**ANSWERS, **more.pop("answers", {})},
            "recipe": {
                "id": "test",
                "title": "Test",
                "suits": {"scripts": ["Latn"], "languages": ["en"], "material": ["typescript"]},
                "steps": list(steps),
                **more,
            },
        }
        answer = self.client.put(URL, json=body)
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def plan(self) -> dict[str, Any]:
        """Return what Start would do."""
        answer = self.client.get(f"{URL}/start")
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def start(self, status: int = 200, **body: Any) -> dict[str, Any]:
        """Start the recipe; return the answer."""
        answer = self.client.post(f"{URL}/start", json=body)
        assert answer.status_code == status, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def work(self) -> None:
        """Run all queued jobs."""
        self.engine.jobs.run_until_idle(self.library)

    def run(self, job_id: str) -> dict[str, Any]:
        """Return a run of the recipe."""
        answer = self.client.get(f"{URL}/runs/{job_id}")
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def run_whole(self, **body: Any) -> dict[str, Any]:
        """Start the recipe and run all jobs; return the run."""
        job_id = self.start(**body)["started"]["job_id"]
        self.work()
        return self.run(job_id)

    def get(self, path: str) -> dict[str, Any]:
        """Return the answer to a GET below the project's recipe."""
        answer: dict[str, Any] = self.client.get(f"{URL}{path}").json()
        return answer
