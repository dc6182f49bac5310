"""The Eleventy project of a site: what it holds, what it withholds, and that Eleventy builds sound pages of it."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urldefrag

import orjson
import pytest
import uharfbuzz
from exports_desk import Desk
from lxml import html
from PIL import Image
from site_desk import HAS_NODE, NO_NODE, build

from armarium_exports.site.tiles import pyramid_of


def site(desk: Desk, status: int = 200, **more: Any) -> dict[str, Any]:
    return desk.post(
        "/api/export/eleventy-site", status, **{"output_path": str(desk.folder / "site"), **more}
    )


def data(desk: Desk, name: str) -> Any:
    return orjson.loads((desk.folder / "site" / "content" / "_data" / f"{name}.json").read_bytes())


def test_pages_folders_and_pictures_are_there(desk: Desk) -> None:
    box = desk.box("Letters & <b>bills</b> {{ 7 * 7 }}")
    first = desk.page(box, "1.png", ["Dear Sir", "I am well"])
    second = desk.page(box, "2.png", ["Farewell"])
    answer = site(desk, target_id=box)
    assert (answer["document_count"], answer["collection_count"]) == (2, 1)
    assert data(desk, "site")["title"] == "Letters & <b>bills</b> {{ 7 * 7 }}"
    pages = data(desk, "pages")
    assert [page["id"] for page in pages] == [first, second]
    assert pages[0]["next"] == second
    assert pages[1]["previous"] == first
    lines = pages[0]["blocks"][0]["lines"]
    assert [line["text"] for line in lines] == ["Dear Sir", "I am well"]
    assert lines[0]["zone"].split()[0] == "100.0,50.0"
    assert {"package.json", "eleventy.config.js", "content/pages.njk"} <= set(answer["files"])
    kinds = {asset["kind"] for asset in answer["assets"] if asset["document_id"] == first}
    assert kinds == {"tiles", "picture", "thumbnail"}
    assert all((desk.folder / "site" / asset["path"]).exists() for asset in answer["assets"])


def test_every_tile_that_a_viewer_asks_for_is_a_file_with_its_pixels(desk: Desk) -> None:
    """The addresses are worked out as OpenSeadragon does for Image API 3, apart from how they were written."""
    width, height = 1100, 1700
    page = desk.page(desk.box(), "1.png", ["a", "b", "c"], size=(width, height))
    site(desk)
    folder = desk.folder / "site" / "static" / "iiif" / page
    (shown,) = data(desk, "pages")
    factors = shown["picture"]["tiles"][0]["scaleFactors"]
    asked = 0
    for factor in factors:
        across, down = -(-width // factor), -(-height // factor)
        for x in range(-(-across // 512)):
            for y in range(-(-down // 512)):
                left, top = x * 512 * factor, y * 512 * factor
                w, h = min(512 * factor, width - left), min(512 * factor, height - top)
                region = "full" if (w, h) == (width, height) else f"{left},{top},{w},{h}"
                size = min(512, across - x * 512), min(512, down - y * 512)
                tile = Image.open(folder / region / f"{size[0]},{size[1]}" / "0" / "default.jpg")
                assert tile.size == size
                asked += 1
    assert asked > len(factors)
    piece = Image.open(folder / "0,0,512,512" / "512,512" / "0" / "default.jpg").convert("L")
    # The first bar begins a tenth from the left and a twentieth from the top: grey 30 on paper of grey 235.
    assert abs(piece.getpixel((300, 130)) - 30) < 8
    assert abs(piece.getpixel((50, 50)) - 235) < 8
    whole = Image.open(folder / "full" / "max" / "0" / "default.jpg")
    assert max(whole.size) <= 1600


def test_the_levels_of_a_picture_end_with_a_thumbnail() -> None:
    assert pyramid_of(100, 80).factors == (1,)
    assert pyramid_of(1100, 1700).sizes[0] == (138, 213)


def test_a_site_takes_the_fonts_along_that_its_texts_ask_for(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["In principio erat uerbum"])
    found = site(desk)
    assets = desk.folder / "site" / "static" / "assets"
    assert not (assets / "fonts").exists()
    desk.page(desk.box("More"), "2.png", ["क्षत्रिय", "בְּרֵאשִׁית 春眠"])
    found = site(desk, overwrite=True)
    names = {path.name for path in (assets / "fonts").iterdir()}
    assert names == {
        "NotoSansDevanagari.ttf", "noto-sans-devanagari-licence.txt",
        "Cardo-Regular.ttf", "cardo-licence.txt",
        "NotoSansCJKjp-Regular.otf", "noto-sans-cjk-jp-licence.txt",
    }  # fmt: skip
    # That of Chinese is large: a part goes along, under no name of its own, with the letters of the site.
    part = uharfbuzz.Face(uharfbuzz.Blob((assets / "fonts" / "NotoSansCJKjp-Regular.otf").read_bytes()))
    assert {*"春眠"} <= {chr(unicode) for unicode in part.unicodes}
    assert (assets / "fonts" / "NotoSansCJKjp-Regular.otf").stat().st_size < 200_000
    assert part.get_name(1) is None
    style = (assets / "site.css").read_text()
    assert 'url("fonts/NotoSansDevanagari.ttf")' in style
    assert '"Cardo"' in style
    assert f"static/assets/fonts/{sorted(names)[0]}" in found["files"]


def test_restricted_pages_are_in_no_list_text_picture_or_tile(desk: Desk, known: Any) -> None:
    box, shut_box = desk.box(), desk.box("Shut box")
    page, shut = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "Hidden.png", ["A secret"])
    part = desk.page(box, "Partly.png", ["A name", "Open"])
    desk.page(shut_box, "3.png", ["Beneath"])
    desk.restrict(shut)
    desk.restrict(desk.lines(part)[0], kind="segment")
    desk.restrict(shut_box)
    known["claim"].append(claim("c1", shut, "Hidden claim"))
    answer = site(desk)
    assert {entry["document_id"] for entry in answer["withheld"]} >= {shut, part, shut_box}
    written = b"".join(
        path.read_bytes() for path in (desk.folder / "site" / "content").rglob("*") if path.is_file()
    )
    for words in (b"A secret", b"Hidden", b"Partly", b"A name", b"Shut box", b"Beneath"):
        assert words not in written
    tiles = {entry.name for entry in (desk.folder / "site" / "static" / "iiif").iterdir()}
    assert tiles == {page}
    text = (desk.folder / "site" / "armarium-site.json").read_text()
    assert not any(one in text for one in (shut, part, shut_box))


def test_a_page_restricted_later_goes_from_the_site_with_its_tiles(desk: Desk) -> None:
    box = desk.box()
    page, shut = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "2.png", ["A secret"])
    site(desk)
    (desk.folder / "site" / "mine.txt").write_text("mine")
    assert site(desk, 409)["code"] == "destination_exists"
    desk.restrict(shut)
    answer = site(desk, overwrite=True)
    assert answer["left_behind"] == []
    assert {entry.name for entry in (desk.folder / "site" / "static" / "iiif").iterdir()} == {page}
    assert (desk.folder / "site" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("what", ["the page", "the part"])
def test_a_part_cut_from_a_restricted_place_is_left_out_and_so_is_what_it_was_cut_from(
    desk: Desk, what: str
) -> None:
    """A restricted line is in the picture of its page and in every picture cut from there."""
    box = desk.box()
    page = desk.page(box, "1.png", ["A secret", "Open words"])
    crops = []
    for top in (36, 450):
        cut = desk.post(f"/api/images/{page}/crop", left=120, top=top, width=960, height=72)
        crops.append(cut["child"]["id"])
    over, elsewhere = crops
    if what == "the page":
        desk.restrict(desk.lines(page)[0], kind="segment")
        shut, shown = {page, over}, {elsewhere}
    else:
        (line,) = desk.write(over, ["A secret"])
        desk.restrict(line, kind="segment")
        shut, shown = {page, over}, {elsewhere}
    answer = site(desk)
    assert {entry["document_id"] for entry in answer["withheld"]} == shut
    assert {entry.name for entry in (desk.folder / "site" / "static" / "iiif").iterdir()} == shown


def test_a_verdict_on_an_entity_that_a_withheld_page_names_stays_out(desk: Desk, known: Any) -> None:
    box = desk.box()
    page, shut = desk.page(box, "1.png", ["Ann"]), desk.page(box, "2.png", ["Ann and Bert"])
    knowledge(known, page, desk.lines(page)[0])
    known["entity"][0]["source_document_ids"] = [page, shut]
    known["mention"].append({"id": "m2", "entity_id": "e1", "document_id": shut, "text": "Ann"})
    given = {"layer": "entities", "target_id": "e1", "verdict": "confirm", "reasons": "Bert says so"}
    desk.do("check.verdict", given)
    give_verdicts(desk)
    site(desk)
    assert len(data(desk, "entities")[0]["verdicts"]) == 2
    desk.restrict(shut)
    site(desk, overwrite=True)
    assert data(desk, "entities")[0]["verdicts"] == []
    assert "Bert says so" not in (desk.folder / "site/content/_data/entities.json").read_text()
    assert len(data(desk, "statements")[0]["verdicts"]) == 1


def claim(claim_id: str, page: str, text: str, state: str = "curated", **more: Any) -> dict[str, Any]:
    return {"id": claim_id, "text": text, "curation_state": state, "source_document_id": page, **more}


def knowledge(known: Any, page: str, line: str) -> None:
    known["entity"] += [
        {"id": "e1", "canonical_name": "Ann <i>Weber</i>", "entity_type": "person", "curation_state": "verified",
         "names": [{"text": "Anna"}], "source_document_ids": [page]},
        {"id": "e2", "canonical_name": "Ulm", "entity_type": "location", "curation_state": "unreviewed",
         "source_document_ids": [page]},
        {"id": "e3", "canonical_name": "Nobody", "entity_type": "person", "curation_state": "rejected"},
    ]  # fmt: skip
    known["claim"] += [
        claim("c1", page, "Ann wrote a letter", subject_entity_id="e1", source_excerpt="Dear Sir",
              source_anchor={"segment_id": line}),
        claim("c2", page, "Ann lived in Ulm", "unreviewed", subject_entity_id="e1", object_entity_id="e2"),
        claim("c3", page, "Ann was a ghost", "rejected", subject_entity_id="e1"),
    ]  # fmt: skip
    known["mention"].append(
        {"id": "m1", "entity_id": "e1", "document_id": page, "segment_id": line, "text": "Ann"}
    )


def give_verdicts(desk: Desk) -> None:
    for layer, target in (("claims", "c1"), ("entities", "e1")):
        given = {
            "layer": layer,
            "target_id": target,
            "verdict": "correct",
            "reasons": "<i>Not so</i> {{ 1 }}",
        }
        desk.do("check.verdict", {**given, "correction": "Ann <b>dictated</b> it"})


def test_verdicts_stand_with_what_they_are_about(desk: Desk, known: Any) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    knowledge(known, page, desk.lines(page)[0])
    give_verdicts(desk)
    site(desk)
    for name in ("statements", "entities"):
        (verdict,) = data(desk, name)[0]["verdicts"]
        assert (verdict["verdict"], verdict["by"], verdict["correction"]) == (
            "correct",
            "a person",
            "Ann <b>dictated</b> it",
        )


def test_a_citation_of_a_line_that_is_not_read_leads_to_its_page(desk: Desk, known: Any) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    knowledge(known, page, "a line of another pass")
    site(desk)
    assert data(desk, "statements")[0]["source"] == {
        "document_id": page,
        "segment_id": None,
        "words": "Dear Sir",
    }
    assert data(desk, "entities")[0]["places"][0]["segment_id"] is None


def test_a_folder_that_only_holds_folders_is_no_step_and_loose_pages_are_listed(desk: Desk) -> None:
    whole = desk.box("All")
    first_box, other_box = desk.box("Letters", whole), desk.box("Bills", whole)
    desk.page(first_box, "1.png", ["a"])
    desk.page(other_box, "2.png", ["b"])
    answer = site(desk)
    assert answer["collection_count"] == 2
    letters = next(box for box in data(desk, "folders") if box["id"] == first_box)
    assert (letters["parent_id"], letters["count"], [step["name"] for step in letters["trail"]]) == (
        None,
        1,
        ["Letters"],
    )
    alone = desk.page(first_box, "3.png", ["c"])
    site(desk, target_id=alone, overwrite=True)
    assert [leaf["id"] for leaf in data(desk, "loose")] == [alone]
    assert data(desk, "folders") == []


def test_only_reviewed_statements_are_published_unless_asked(desk: Desk, known: Any) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    knowledge(known, page, desk.lines(page)[0])
    site(desk)
    assert [one["id"] for one in data(desk, "statements")] == ["c1"]
    assert [one["id"] for one in data(desk, "entities")] == ["e1"]
    assert data(desk, "entities")[0]["places"][0]["segment_id"] == desk.lines(page)[0]
    site(desk, overwrite=True, include_unreviewed=True)
    assert [one["id"] for one in data(desk, "statements")] == ["c1", "c2"]
    assert {one["id"] for one in data(desk, "entities")} == {"e1", "e2"}


def test_a_damaged_picture_leaves_the_text_of_its_page(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    ((checksum,),) = desk.rows("SELECT checksum FROM rendition WHERE document_id = ?", page)
    place = desk.library.objects.path(checksum)
    place.chmod(0o600)
    place.write_bytes(place.read_bytes()[:200])
    site(desk)
    (shown,) = data(desk, "pages")
    assert shown["picture"] is None
    assert shown["blocks"][0]["lines"][0]["text"] == "Dear Sir"


@pytest.mark.skipif(not HAS_NODE, reason=NO_NODE)
@pytest.mark.slow
def test_eleventy_builds_it_and_every_link_leads_somewhere(desk: Desk, known: Any) -> None:
    box = desk.box("Letters & <b>bills</b> {{ 7 * 7 }} {% raw %}")
    page = desk.page(box, '1 "x" --- {{ secret }}.png', ["Dear <Sir> {{ 1 + 1 }}", "I am well"])
    desk.page(box, "2.png", ["Farewell"])
    knowledge(known, page, desk.lines(page)[0])
    site(desk, target_id=box)
    built = build(desk.folder / "site")
    files = sorted(built.rglob("*.html"))
    assert {file.name for file in files} >= {"index.html", "statements.html", "people.html", f"{page}.html"}
    roots = {file: html.fromstring(file.read_bytes()) for file in files}
    for file, root in roots.items():
        for element in root.iter("a", "link", "img", "script"):
            target = unquote(element.get("href") or element.get("src") or "")
            if not target or target.startswith("http"):
                continue
            path, fragment = urldefrag(target)
            aim = built / os.path.relpath(os.path.normpath(file.parent / path), built) if path else file
            assert aim.is_relative_to(built), (file.name, target)
            assert aim.is_file(), (file.name, target)
            if fragment:
                assert roots[aim if aim in roots else file].get_element_by_id(fragment) is not None
        assert not target_of_root(root)
    text = roots[built / "pages" / f"{page}.html"].text_content()
    assert "Dear <Sir> {{ 1 + 1 }}" in text
    assert "{{ secret }}" in text
    assert "49" not in text
    assert (built / "pagefind" / "pagefind.js").is_file()
    info = orjson.loads((built / "iiif" / page / "info.json").read_bytes())
    assert info["profile"] == "level0"
    assert info["id"].endswith(f"/iiif/{page}")
    manifest = orjson.loads((built / "iiif" / page / "manifest.json").read_bytes())
    assert manifest["items"][0]["width"] == 1200


def target_of_root(root: Any) -> list[str]:
    """Addresses that begin at the root of a host: they would break in a subfolder."""
    return [value for value in root.xpath("//@href | //@src") if str(value).startswith("/")]


def test_words_that_somebody_placed_are_outlined_so_that_a_search_can_show_them(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir", "I am well"])
    line = desk.lines(page)[0]
    ((pass_id,),) = desk.rows("SELECT pass_id FROM segment WHERE id = ?", line)
    for place, word in enumerate(["Dear", "Sir"]):
        anchor = {"rect": [0.1 + 0.2 * place, 0.1, 0.1, 0.05]}
        made = {"document_id": page, "pass_id": pass_id, "kind": "word", "anchor": anchor}
        given = {"segments": [{**made, "parent_segment_id": line}]}
        segment = desk.do("segment.create_many", given)["items"][0]["id"]
        desk.do("representation.create", {"segment_id": segment, "text": word})
    site(desk)
    first, second = data(desk, "pages")[0]["blocks"][0]["lines"]
    assert [stand["text"] for stand in first["stands"]] == ["Dear", "Sir"]
    assert first["stands"][1]["zone"] == "300.0,100.0 400.0,100.0 400.0,150.0 300.0,150.0"
    assert second["stands"] == []
