"""IIIF on the command line: a manifest imported by reference, and the messages when it or its pictures are
unavailable.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine

MANIFEST = {
    "id": "https://example.org/m",
    "type": "Manifest",
    "label": {"en": ["Letters"]},
    "items": [
        {"id": "https://example.org/c/1", "type": "Canvas", "label": {"none": ["f. 1"]}, "width": 300, "height": 400,
         "items": [{"type": "AnnotationPage", "items": [{"motivation": "painting",
                                                         "body": {"id": "http://127.0.0.1:9/1.jpg", "type": "Image"}}]}]},
        {"id": "https://example.org/c/1", "type": "Canvas"},
    ],
}  # fmt: skip


@pytest.fixture
def project(desk: Machine) -> Machine:
    desk.succeed("create", "Letters")
    return desk


def test_a_manifest_is_imported_from_a_file(project: Machine, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(MANIFEST))
    answer = project.succeed("iiif", "import", "m.json", "--name", "Of others").out
    assert "Of others: 1 page in the folder" in answer
    assert "1 canvas has the id of an earlier one: left out." in answer
    new_answer = project.succeed("ls", "--json").json
    assert new_answer


def test_pictures_that_may_not_be_fetched_are_named(project: Machine, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(MANIFEST))
    answer = project.succeed("iiif", "import", "m.json", "--json").json
    ran = project.run("iiif", "pictures", answer["document_id"])
    assert ran.code == 1
    assert "127.0.0.1 is not on the network this request may reach" in ran.err


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("gone.json", "cannot be read"),
        ("odd.json", "it is not UTF-8"),
        ("text.json", "it is not JSON"),
        ("http://127.0.0.1/m", "not on the network"),
        ("ftp://example.org/m", "http:// or https://"),
    ],
)
def test_what_is_no_manifest_is_refused(project: Machine, tmp_path: Path, source: str, words: str) -> None:
    (tmp_path / "odd.json").write_bytes(b"\xff\xfe")
    (tmp_path / "text.json").write_text("a letter")
    assert words in project.expect_refusal("iiif", "import", source)
