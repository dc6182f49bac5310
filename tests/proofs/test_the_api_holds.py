"""Every route under generated requests: no server error, no undeclared status, answers as declared (quality 7).

Ids of things that are there are put into paths and bodies, else most requests would only see 404.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from armarium.app import create_app
from armarium.engine import Engine
from armarium.libraries import Library
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium_formats.actions.samples import SAMPLE_PAGE

TOKEN = "an-owner-token-for-tests-only-0123456789"
EXAMPLES = int(os.environ.get("ARMARIUM_FUZZ_EXAMPLES", "12"))
ENDLESS = {"/api/changes/stream"}
"""Streams that never end by themselves: proved by tests of their own."""
CLOSES = {"/api/registry/release", "/api/registry/{path}"}
"""Routes that would take the ground away from the requests that follow."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


class Ground:
    """An engine with a library in which there is something of each kind."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="armarium-fuzz-")
        place = Path(self.folder.name)
        self.engine = Engine(Settings(state_dir=place / "state", owner_token=TOKEN, library_roots=[place]))
        self.engine.start(jobs=False)
        self.path = place / "Fuzz.library"
        self.engine.run(None, "library.create", {"path": str(self.path)}, LOCAL_OWNER)
        self.ids = self._fill(place)
        self.app = create_app(engine=self.engine)
        self.statuses: Counter[int] = Counter()

    def _fill(self, place: Path) -> list[str]:
        from PIL import Image, ImageDraw

        library = self.engine.libraries.get(self.path)
        source = place / "source"
        source.mkdir()
        for number in range(3):
            page = Image.new("L", (120, 160), 230)
            ImageDraw.Draw(page).line((10, 20 + number, 100, 20), fill=0)
            page.save(source / f"{number}.png")
        (source / "page").mkdir()
        layout = SAMPLE_PAGE.replace("letter.jpg", "2.png")
        (source / "page" / "2.xml").write_text(layout, encoding="utf-8")
        self.files = sorted(str(path) for path in source.rglob("*") if path.is_file())
        self.engine.run(library, "document.import", {"folder": str(source)}, LOCAL_OWNER)
        self.engine.jobs.run_until_idle(library, 60)
        with library.db.read() as conn:
            pages = conn.exec_driver_sql("SELECT id FROM document WHERE name LIKE '%.png'").scalars().all()
            frames = dict(conn.exec_driver_sql("SELECT document_id, id FROM rendition").all())
        ids = list(pages)
        for page in pages[:2]:
            lines = [
                {"key": str(n), "rect": [0.1, 0.1 + n / 10, 0.5, 0.05], "kind": "line"} for n in range(3)
            ]
            taken = self.engine.run(
                library,
                "segment.take_lines",
                {
                    "document_id": page,
                    "rendition_id": frames[page],
                    "name": "p",
                    "provider": "test",
                    "lines": lines,
                },
                LOCAL_OWNER,
            ).result
            assert taken is not None
            ids += [taken["pass_id"], *taken["segment_ids"]]
            readings = [{"segment_id": s, "text": "words"} for s in taken["segment_ids"]]
            read = self.engine.run(
                library,
                "reading.take",
                {"document_id": page, "pass_id": taken["pass_id"], "provider": "test", "readings": readings},
                LOCAL_OWNER,
            ).result
            assert read is not None
            ids += read["representation_ids"]
        ids += self._converted(library, pages[0])
        with library.db.read() as conn:
            for table in ("rendition", "audit", "job", "document", "artifact"):
                ids += conn.exec_driver_sql(f"SELECT id FROM {table} LIMIT 4").scalars().all()
        return list(dict.fromkeys(ids))

    def _converted(self, library: Library, page: str) -> list[str]:
        """An older result, converted; the run's id and those of imported passes."""
        box = {"bbox": [0.1, 0.1, 0.8, 0.05], "text": "words", "level": "line"}
        geometry = {"text": "words", "provider": "reader", "boxes": [box]}
        old = {"document_id": page, "artifact_type": "transcription", "ocr_geometry": geometry}
        self.engine.run(library, "artifact.create", old, LOCAL_OWNER)
        run = self.engine.run(library, "conversion.start", {}, LOCAL_OWNER).result
        assert run is not None
        self.engine.jobs.run_until_idle(library, 60)
        with library.db.read() as conn:
            imported = conn.exec_driver_sql("SELECT pass_id FROM format_import").scalars().all()
        assert imported
        return [run["run_id"], *imported]

    def close(self) -> None:
        self.engine.close()
        self.folder.cleanup()


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    made = Ground()
    yield made
    made.close()


@pytest.fixture(scope="module")
def api(ground: Ground) -> Any:
    async def from_this_machine(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["client"] = ("127.0.0.1", 50000)
        await ground.app(scope, receive, send)

    found = schemathesis.openapi.from_asgi("/openapi.json", from_this_machine, headers={"Host": "127.0.0.1"})
    return found.exclude(path=sorted(ENDLESS | CLOSES))


def _real(value: Any, ids: list[str], name: str = "", files: Sequence[str] = ()) -> Any:
    """*value* with most of its ids made ids of things that are there; chosen by the value, so that runs repeat."""
    if isinstance(value, dict):
        return {key: _real(item, ids, str(key), files) for key, item in value.items()}
    if isinstance(value, list):
        return [_real(item, ids, name, files) for item in value]
    if isinstance(value, str) and name == "paths" and files:
        return [*files, value][sum(value.encode("utf-8", "surrogatepass")) % (len(files) + 1)]
    if isinstance(value, str) and (name == "id" or name.endswith(("_id", "ids"))):
        number = sum(value.encode("utf-8", "surrogatepass")) + len(value)
        return value if number % 5 == 0 else ids[number % len(ids)]
    return value


def _ask(case: Any, ground: Ground) -> None:
    case.path_parameters = _real(dict(case.path_parameters or {}), ground.ids)
    case.body = _real(case.body, ground.ids, files=ground.files)
    case.query = _real(dict(case.query or {}), ground.ids)
    # How a project is named has tests of its own; here every request names the one there is.
    case.query.pop("library", None)
    case.headers = {
        k: v for k, v in dict(case.headers or {}).items() if k.lower() != "x-service-library-path"
    }
    response = case.call(
        headers={
            "Host": "127.0.0.1",
            "Authorization": f"Bearer {TOKEN}",
            "X-Service-Library-Path": quote(str(ground.path)),
        }
    )
    ground.statuses[response.status_code] += 1
    case.validate_response(response, checks=CHECKS)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_generated_requests(api: Any, ground: Ground) -> None:
    faults: list[str] = []
    for found in api.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def requests(case: Any) -> None:
            _ask(case, ground)

        try:
            requests()
        except BaseExceptionGroup as several:
            faults += [f"{operation.label}: {fault}" for fault in several.exceptions]
        except Exception as fault:
            faults.append(f"{operation.label}: {fault}")
    print(f"answers by status: {dict(ground.statuses)}")
    assert not faults, "\n\n".join(faults)
    assert ground.statuses[200] > sum(ground.statuses.values()) / 10
