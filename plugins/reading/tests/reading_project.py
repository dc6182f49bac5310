"""A project for the tests of reading: pages, jobs and their results."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import fake_readers
from fake_readers import WHITE, FakeReader, FakeTranscriber, FinderOnly, NeedsModel, NeedsRuntime

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_reading.readers import GROUP, TRANSCRIBERS


def register_fake_readers(engine: Engine) -> None:
    """Register the fake readers, and a broken one, with *engine* as if they were installed."""
    for reader in (FakeReader, FinderOnly, NeedsModel, NeedsRuntime):
        engine.drivers.give(GROUP, reader.name, reader)
    engine.drivers.give(GROUP, "broken", fake_readers.WHITE)
    engine.drivers.give(TRANSCRIBERS, "ear", FakeTranscriber)
    engine.drivers.give(TRANSCRIBERS, "broken", fake_readers.WHITE)


@dataclass
class ReadingProject:
    """Creates pages in a project, runs actions and jobs, and queries the results."""

    engine: Engine
    library: Library
    folder: str | None = None

    def page(self, colour: tuple[int, int, int] = WHITE, name: str = "1.png") -> str:
        """Create a page of 100 by 80 pixels whose first pixel has *colour*; return its id."""
        from PIL import Image

        image = Image.new("RGB", (100, 80), WHITE)
        image.putpixel((0, 0), colour)
        file = io.BytesIO()
        image.save(file, "PNG")
        data = file.getvalue()
        identity = new_id()
        picture = {
            "checksum": self.library.objects.put_bytes(data),
            "mime_type": "image/png",
            "size_bytes": len(data),
            "pixel_width": 100,
            "pixel_height": 80,
        }
        if self.folder is None:
            self.folder = str(self.run("document.create", {"name": "Box", "doc_type": "folder"})["id"])
        node = {
            "id": identity,
            "parent_id": self.folder,
            "doc_type": "file",
            "file_type": "image",
            "name": name,
        }
        self.run("document.add_files", {"nodes": [{**node, "picture": picture}]})
        return identity

    def run(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run an action as the owner; return its result."""
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def job(self, action: str, **params: Any) -> tuple[str, dict[str, Any]]:
        """Start a job by its action and wait for it; return its id and row."""
        job_id = str(self.run(action, {"reader": "fake", **params})["job_id"])
        assert self.engine.jobs.run_until_idle(self.library)
        return job_id, self.job_row(job_id)

    def job_row(self, job_id: str) -> dict[str, Any]:
        """Return the row of a job, with its result decoded."""
        import json

        with self.library.db.read() as conn:
            raw = raw_of(conn)
            cursor = raw.execute("SELECT * FROM job WHERE id = ?", (job_id,))
            row = dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))
        return {**row, "result": json.loads(row["result"]) if row.get("result") else None}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            return [tuple(row) for row in raw.execute(statement, given).fetchall()]

    def passes(self, document_id: str) -> list[str]:
        """Return the ids of a page's live passes, oldest first."""
        rows = self.rows(
            "SELECT id FROM segment_pass WHERE document_id = ? AND deleted_at IS NULL ORDER BY created_at, id",
            document_id,
        )
        return [row[0] for row in rows]

    def readings(self, document_id: str) -> list[str]:
        """Return the texts of a page's readings in the order of their lines."""
        rows = self.rows(
            "SELECT content FROM content_representation WHERE document_id = ? AND segment_id IS NOT NULL "
            "AND NOT retracted ORDER BY segment_id",
            document_id,
        )
        return [row[0] for row in rows]
