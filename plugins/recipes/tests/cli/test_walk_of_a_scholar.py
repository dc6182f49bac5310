"""The walk of a scholar: a box of typed letters becomes a text, files and a site, by the command line alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from armarium.samples import sample_pages
from armarium_testing.command_line import Machine


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) > 3}


@pytest.mark.slow
def test_from_setup_to_a_site_and_back_again(desk: Machine, tmp_path: Path) -> None:
    """What the pages were drawn from is the truth; RapidOCR reads them. A name that the project knows is found."""
    pytest.importorskip("rapidocr")
    drawn = [page for page in sample_pages(count=4) if not page.is_blank][:2]
    box = tmp_path / "letters"
    box.mkdir()
    for page in drawn:
        (box / f"{page.name}.jpg").write_bytes(page.jpeg)
    desk.succeed("create", "Letters")
    desk.succeed("import", str(box))
    desk.succeed("action", "entity.create", "--canonical-name", "Puerto Claro", "--entity-type", "location")
    assert (
        "find-names-tag-words"
        in desk.succeed(
            *("setup", "--purpose", "entities", "--language", "es", "--material", "typescript")
        ).out
    )
    assert desk.succeed("plan").out.strip().endswith("Run it: armarium start")

    said = desk.succeed("start").out
    assert f"{len(drawn)} of {len(drawn)} pages read; names: " in said
    assert "location" in said
    assert " is done, over 2 pages." in desk.succeed("runs", "last").out
    texts = [desk.succeed("text", f"{page.name}.jpg").out for page in drawn]
    for page, text in zip(drawn, texts, strict=True):
        truth = _words(page.text)
        assert len(truth & _words(text)) >= 0.8 * len(truth), (page.name, text)

    written = tmp_path / "files"
    desk.succeed("export", "--format", "pagexml", "--out", str(written))
    for page, text in zip(drawn, texts, strict=True):
        root = ElementTree.parse(written / f"{page.name}.xml").getroot()
        lines = [one.text or "" for one in root.iter() if one.tag.rpartition("}")[2] == "Unicode"]
        assert _words(text) <= _words("\n".join(lines))
    site = tmp_path / "site"
    assert "a site of 2 pages" in desk.succeed("export-site", str(site)).out
    content = "\n".join(one.read_text() for one in sorted((site / "content").rglob("*")) if one.is_file())
    assert all(_words(text) <= _words(content) for text in texts)

    # What a run made is taken back as one, and done again as one; the start itself is the step before it.
    desk.succeed("undo")
    assert "was never read" in desk.succeed("text", f"{drawn[0].name}.jpg").err
    assert json.loads(desk.succeed("entities", "--json").out)["items"][0]["canonical_name"] == "Puerto Claro"
    desk.succeed("redo")
    assert [desk.succeed("text", f"{page.name}.jpg").out for page in drawn] == texts
    assert "armarium start --redo STEP" in desk.succeed("plan").out
