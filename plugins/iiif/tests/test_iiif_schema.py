"""Everything served is valid IIIF: models generated from the published Presentation 3 schema read it."""

from __future__ import annotations

import pytest
from iiif_helpers import OWNER, SAMPLE, add_lines, add_page, sources
from starlette.testclient import TestClient

from armarium.api import Engine, Library

prezi3 = pytest.importorskip("iiif_prezi3", reason="iiif-prezi3 is not installed (make dev)")


@pytest.fixture
def folder(engine: Engine, library: Library) -> str:
    """A folder with pages below it, one of them with lines, and one that only references a picture."""
    details = {"date_iso": "1742-01-31", "direction": "rtl", "attributes": {"<b>": "<i>x</i>", "box": [1, 2]}}
    result = engine.run(
        library, "document.create", {"name": "Letters", "parent_id": sources(library), **details}, OWNER
    )
    identity = str((result.result or {})["id"])
    inner = engine.run(library, "document.create", {"name": "Inner", "parent_id": identity}, OWNER)
    page = add_page(engine, library, (inner.result or {})["id"])
    add_page(engine, library, identity, name="cover.png")
    add_lines(engine, library, page)
    engine.run(library, "iiif.import", {"file": SAMPLE, "parent_id": identity}, OWNER)
    return identity


def test_manifests_canvases_and_lines_are_valid_by_the_schema(client: TestClient, folder: str) -> None:
    answer = client.get(f"/api/iiif/manifest/{folder}")
    manifest = prezi3.Manifest(**answer.json())
    assert len(manifest.items) == 3
    assert len(manifest.structures) == 2
    lines = 0
    for canvas in answer.json()["items"]:
        for page in canvas.get("annotations", []):
            found = prezi3.AnnotationPage(**client.get(page["id"]).json())
            lines += len(found.items)
    assert lines == 2
    own = [item["id"] for item in answer.json()["items"] if "/api/iiif/" in item["id"]]
    for address in own:
        assert prezi3.Canvas(**client.get(address).json()).width == 400
