"""Language, script and direction are resolved alike by the API, reading order, text, IIIF and every export:
all are compared with an independent implementation in plain Python.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from language_oracle import KEYS, SIZE, UNKNOWN, Part, StatedPage, make
from lxml import etree
from starlette.testclient import TestClient

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_formats.queries.exchange import export_page
from armarium_source_model.api import page_text, pass_sequence
from armarium_testing.samples import sample

PAGE_WORDS = {
    "ltr": "left-to-right",
    "rtl": "right-to-left",
    "ttb": "top-to-bottom",
    "btt": "bottom-to-top",
}
STYLES = {
    "direction: ltr": "ltr",
    "direction: rtl": "rtl",
    "writing-mode: vertical-rl": "ttb",
    "writing-mode: sideways-lr": "btt",
    "--direction: alternating": "alternating",
}
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
XML_ID = "{http://www.w3.org/XML/1998/namespace}id"


class ImportedPage:
    """A generated page with its ancestors, created in a project."""

    def __init__(self, engine: Engine, library: Library, world: StatedPage) -> None:
        self.engine, self.library, self.world = engine, library, world
        facts = [dict(facts) for _, facts in world.above]
        for fact in facts[1:2]:  # PAGE has no word for an alternating direction
            if fact.get("direction") == "alternating":
                fact.pop("direction")
                world.above[1][1].pop("direction")
        page_facts, file_facts, *ancestors, project = facts
        parent: str | None = None
        for number, stated in reversed(list(enumerate(ancestors))):
            below = {"parent_id": parent} if parent else {}
            parent = self.run("document.create", name=f"Folder {number}", **below, **stated)["id"]
        below = {"parent_id": parent} if parent else {}
        self.page = self.run("document.create", name="0001.jpg", doc_type="page", **below, **page_facts)["id"]
        for key, value in project.items():
            self.run("source_setting.set", level="project", key=key, value=value)
        content = page_file(world, file_facts)
        result = self.run("format.import", document_id=self.page, file=content, filename="a.xml")
        self.pass_id = result["pass_id"]
        with library.db.read() as conn:
            raw = raw_of(conn)
            self.rows = dict(
                raw.execute(
                    "SELECT metadata ->> '$.format.id', id FROM segment WHERE pass_id = ?", (self.pass_id,)
                )
            )
        for part in world.segments():
            if part.facts.get("direction") == "alternating":
                identity = self.rows[part.id]
                self.run("segment.update", segment_id=identity, expected_version=1, direction="alternating")
        self.ids = {row: part for part, row in self.rows.items()}

    def run(self, name: str, /, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def export_file(self, name: str) -> tuple[etree._Element, str]:
        """Return the exported file, and the losses in one string."""
        export = export_page(self.engine, self.library, self.page, name)
        losses = "; ".join(loss["what"] for loss in export["losses"])
        content = export["content"]
        return etree.fromstring(content.encode()) if content.startswith("<") else content, losses


def page_file(world: StatedPage, facts: dict[str, str]) -> str:
    def attributes(part: Part | None, stated: dict[str, str]) -> str:
        language = "language" if part is not None and part.kind == "word" else "primaryLanguage"
        words = {
            language: stated.get("language"),
            "primaryScript": stated.get("script"),
            "readingDirection": PAGE_WORDS.get(stated.get("direction", "")),
        }
        return "".join(f' {key}="{value}"' for key, value in words.items() if value)

    def element(part: Part) -> str:
        x, y, w, h = part.box
        tag = {"region": "TextRegion", "line": "TextLine", "word": "Word"}[part.kind]
        points = f"{x},{y} {x + w},{y} {x + w},{y + h} {x},{y + h}"
        inside = "".join(element(one) for one in part.parts)
        text = f"<TextEquiv><Unicode>{part.text}</Unicode></TextEquiv>" if part.text else ""
        return f'<{tag} id="{part.id}"{attributes(part, part.facts)}><Coords points="{points}"/>{inside}{text}</{tag}>'

    regions = "".join(element(part) for part in world.page.parts)
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata><Creator>x</Creator>'
        "<Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="0001.jpg" imageWidth="{SIZE[0]}" imageHeight="{SIZE[1]}"{attributes(None, facts)}>'
        f"{regions}</Page></PcGts>"
    )


def outwards(element: etree._Element | None) -> list[etree._Element]:
    return [] if element is None else [element, *element.iterancestors()]


def by_id(root: etree._Element, attribute: str) -> dict[str, etree._Element]:
    return {element.get(attribute): element for element in root.iter() if element.get(attribute)}


def tag_of(element: etree._Element) -> str:
    return str(etree.QName(element).localname)


# --------------------------------------------------------------------- what exported files state for a part


def in_page(root: etree._Element, part: Part, key: str) -> str | None:
    """Return what a PAGE file states for a part: the nearest attribute, or the UserAttribute that replaces
    it.
    """
    for outward in outwards(by_id(root, "id").get(part.id)):
        names = {"language": ("language", "primaryLanguage"), "script": ("primaryScript",)}
        for name in names.get(key, ("readingDirection",)):
            stated = outward.get(name)
            for beside in outward.findall("{*}UserDefined/{*}UserAttribute"):
                if str(beside.get("name")).endswith(f"/@{name}"):
                    stated = beside.get("value")
            if stated is not None:
                words = {"Latin": "la", "Arabic": "ar", "Hebrew": "he"} | {
                    word: ours for ours, word in PAGE_WORDS.items()
                }
                return stated[:4] if key == "script" else words.get(stated, stated)
    return None


def in_alto(root: etree._Element, part: Part, key: str) -> str | None:
    names = {"language": "LANG", "direction": "BASEDIRECTION"}
    for outward in outwards(by_id(root, "ID").get(part.id)):
        if key in names and outward.get(names[key]):
            return str(outward.get(names[key]))
    return None


def in_tei(root: etree._Element, part: Part, key: str) -> str | None:
    above = [*outwards(by_id(root, XML_ID).get(part.id)), *root.iter("{*}text")]
    for one in above:
        if tag_of(one) not in ("zone", "surface", "text"):
            continue
        if key == "direction":
            if one.get("style"):
                return STYLES[one.get("style")]
            continue
        if one.get(XML_LANG):
            language, _, script = one.get(XML_LANG).partition("-x-")[0].partition("-")
            return script or None if key == "script" else language
    return None


# ------------------------------------------------------------------------------------ checks against the
# oracle


@pytest.mark.parametrize("seed", sample(range(24), 7))
def test_language_script_and_direction_are_the_same_everywhere(
    engine: Engine, library: Library, client: TestClient, seed: int
) -> None:
    chance = random.Random(seed)
    world = make(chance, ancestors=seed % 4)
    imported = ImportedPage(engine, library, world)
    check_resolved(imported, client)
    in_order(imported)
    check_annotated(imported, client)
    check_exported(imported)


def check_resolved(imported: ImportedPage, client: TestClient) -> None:
    world = imported.world
    for part in world.page.walk():
        selection = (
            {"document_id": imported.page} if part is world.page else {"segment_id": imported.rows[part.id]}
        )
        answer = client.get("/api/source-settings/resolve", params=selection)
        assert answer.status_code == 200, answer.text
        settings_by_key = {setting["key"]: setting for setting in answer.json()["settings"]}
        for key in KEYS:
            stated = world.find_stated(key, part)
            one = settings_by_key[key]
            if stated is not None:
                value, rung, holder = stated
                known = value not in UNKNOWN
                wanted = (value if known else None, "known" if known else "unknown", rung)
                assert (one["value"], one["status"], one["rung"]) == wanted, (part.id, key, one)
                if holder is not None and holder is not part:
                    assert imported.rows[holder.id] in one["basis"]
            elif key == "language":
                assert (one["value"], one["status"]) == (None, "never-determined"), (part.id, one)
            else:
                default = world.script(part) if key == "script" else world.direction(part)[0]
                assert (one["value"], one["rung"]) == (default, "default"), (part.id, key, one)


def in_order(imported: ImportedPage) -> None:
    world = imported.world
    sequence = [part.id for part in world.sequence()]
    with imported.library.db.read() as conn:
        assert [imported.ids[one] for one in pass_sequence(conn, imported.page, imported.pass_id)] == sequence
        text = page_text(conn, imported.page)
    read = [part for part in world.sequence() if part.text]
    assert [imported.ids[span.segment_id] for span in text.assembled.spans] == [part.id for part in read]
    for part, span in zip(read, text.assembled.spans, strict=True):
        assert span.direction == world.direction(part)[0], part.id


def check_annotated(imported: ImportedPage, client: TestClient) -> None:
    world = imported.world
    items = client.get(f"/api/iiif/iiif/lines/{imported.page}").json()["items"]
    lines = [part for part in world.sequence() if part.kind == "line"]
    assert [imported.ids[item["id"].rpartition("#")[2]] for item in items] == [part.id for part in lines]
    for part, item in zip(lines, items, strict=True):
        assert item["body"].get("language") == world.find_known("language", part), part.id


def check_exported(imported: ImportedPage) -> None:
    world = imported.world
    for name, read in (("pagexml", in_page), ("alto", in_alto), ("tei", in_tei)):
        root, losses = imported.export_file(name)
        for part in world.segments():
            if name == "alto" and part.kind != "line":
                continue  # blocks that contain blocks have no place for facts; those that contain lines state them
            for key in KEYS:
                stated = world.find_stated(key, part)
                if key in losses:
                    continue
                found = read(root, part, key)
                if name == "tei" and key == "language" and stated is None and found == "und":
                    continue  # only the language half of a tag that states a script
                assert found == (stated[0] if stated else None), (name, part.id, key)
        if name == "alto":
            # What ALTO has no place for is a loss; everything else is written, wherever it was stated.
            stated_scripts = any(world.find_stated("script", part) for part in world.page.walk())
            assert ("script" in losses) == stated_scripts
            directions = {
                value[0] for part in world.page.walk() if (value := world.find_stated("direction", part))
            }
            if not any("direction" in part.facts for part in world.segments()):
                assert ("direction" in losses) == ("alternating" in directions)
        else:
            assert "direction" not in losses
            assert "script" not in losses
    content, losses = imported.export_file("plain-text")
    facts = any(world.find_stated(key, part) for part in world.page.walk() for key in KEYS)
    assert ("languages, scripts and directions" in losses) == facts
    assert isinstance(content, str)
