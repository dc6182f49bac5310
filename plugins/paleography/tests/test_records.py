"""Palaeographical statements exported as records, without those on restricted pages."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from paleography_project import FAMILIES, PaleographyProject

from armarium.api import Engine

WITH = ("images", "canvas", "formats", "iiif", "reading", "rights", "checking", "exports")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with paleography, exports and the families these depend on."""
    names = (*FAMILIES[:2], *WITH, "paleography")
    return make_engine(
        plugins=[importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in names]
    )


def export(project: PaleographyProject, file: Path) -> dict[str, list[dict[str, Any]]]:
    project.do("export.jsonl", {"output_path": str(file)})
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_bytes().splitlines()[1:]:
        record = orjson.loads(line)
        found.setdefault(record["record_type"], []).append(record)
    return found


def test_nothing_of_a_restricted_page_is_among_the_records(
    project: PaleographyProject, tmp_path: Path
) -> None:
    """No statement about its lines, and no sign whose picture is on it."""
    hidden, shown_page = project.page(["erat"], lines=1), project.page(["fuit"], lines=1)
    hand = project.hand()
    for page in (hidden, shown_page):
        line = page.lines[0]
        project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
        sign = project.post("/signs", {"name": f"Of {page.id}", "picture_segment_id": line})["id"]
        project.post(f"/signs/{sign}/instances", {"segment_id": line})
        project.send("PUT", f"/letterforms/segment/{line}", {"character": "e"})
        project.post("/editorial", {"segment_id": line, "kind": "added"})
        campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
        project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": campaign})
    kinds = (
        "hand_attribution",
        "sign",
        "sign_instance",
        "letterform",
        "editorial_fact",
        "campaign",
        "campaign_member",
    )
    whole = export(project, tmp_path / "whole.jsonl")
    assert {kind: len(whole[kind]) for kind in kinds} == dict.fromkeys(kinds, 2)
    project.do("rights.set", {"target_kind": "document", "target_id": hidden.id, "restricted": True})
    part = export(project, tmp_path / "part.jsonl")
    assert {kind: len(part[kind]) for kind in kinds} == dict.fromkeys(kinds, 1)
    assert len(part["hand"]) == 1
    written = (tmp_path / "part.jsonl").read_text().partition("\n")[2]
    assert hidden.lines[0] not in written
