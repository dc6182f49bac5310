"""What a person does with what pages say: doubts, statements, hands, maps, work and figures, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conftest import WEB, Desk, Shot

if TYPE_CHECKING:
    from playwright.sync_api import Page

LONG = "A name that is so long that no list of any width that a window has would show the whole of it at once"


def show(page: Page, desk: Desk, place: str) -> None:
    """Go to a view of the project."""
    page.goto(desk.engine.new_link(f"/p/{desk.project_id}/{place}"))


def check(page: Page, name: str, shot: Shot) -> None:
    """Keep a picture of a view, and fail for serious obstacles in it, in both themes."""
    page.wait_for_load_state("networkidle")
    shot(page, name)
    page.evaluate((WEB / "node_modules" / "axe-core" / "axe.min.js").read_text())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        answer = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found = [
            f"{name}, {theme}: {violation['id']}: {violation['nodes'][0]['html'][:200]}"
            for violation in answer["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
        assert found == []
    page.emulate_media(color_scheme=None)


def line_of(desk: Desk, page: str, number: int) -> dict[str, Any]:
    """Return a line's span in the text of a page, with its text."""
    text = desk.engine.ask("GET", f"/api/segments/document/{desk.pages[page]}/text")
    span = text["spans"][number]
    return {**span, "text": text["text"][span["char_start"] : span["char_end"]]}


def undo(page: Page) -> None:
    page.locator("main").click(position={"x": 2, "y": 2})
    page.keyboard.press("Control+z")


def test_a_correction_puts_a_statement_in_doubt_and_a_click_confirms_it(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    letter = desk.pages["letter.jpg"]
    line = line_of(desk, "letter.jpg", 1)
    word = line["text"].split()[0]
    entity = desk.engine.ask("POST", "/api/entities", {"canonical_name": LONG, "entity_type": "person"})["id"]
    answer = desk.engine.ask(
        "POST",
        "/api/claims",
        {
            "text": "He wrote <b>this</b> letter",
            "subject_entity_id": entity,
            "source_document_id": letter,
            "source_char_start": line["char_start"],
            "source_char_end": line["char_start"] + len(word),
        },
    )["id"]
    show(page, desk, "search/doubt")
    expect(page.get_by_role("heading", name="Nothing is in doubt")).to_be_visible()
    check(page, "doubt-empty", shot)
    path = f"/api/segments/{line['segment_id']}/correct"
    desk.engine.ask("POST", path, {"text": line["text"] + " indeed"})
    expect(page.get_by_role("heading", name="1 thing is in doubt")).to_be_visible()
    expect(page.get_by_text("He wrote <b>this</b> letter")).to_be_visible()
    check(page, "doubt", shot)
    confirm = page.get_by_role("button", name="Still right: He wrote <b>this</b> letter")
    confirm.click()
    expect(page.get_by_role("heading", name="Nothing is in doubt")).to_be_visible()
    assert desk.engine.ask("GET", f"/api/claims/{answer}")["stale"] is False
    undo(page)
    expect(confirm).to_be_visible()
    assert desk.engine.ask("GET", f"/api/claims/{answer}")["stale"] is True


def test_a_misread_word_is_replaced_and_another_left_as_it_is(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    first, second = (line_of(desk, "letter.jpg", number) for number in (3, 4))
    for line, text in ((first, "The chaplain came"), (second, "A chaplein, and a chaplein")):
        desk.engine.ask("POST", f"/api/segments/{line['segment_id']}/correct", {"text": text})
    show(page, desk, "search/words")
    check(page, "words-empty", shot)
    page.get_by_label("A word as it is right").fill("chaplain")
    page.get_by_role("button", name="Find misread ones").click()
    expect(page.get_by_role("button", name="chaplein", exact=True)).to_be_visible()
    expect(page.get_by_text("1 line to look at")).to_be_visible()
    check(page, "words", shot)
    page.get_by_role("button", name="It is right").click()
    expect(page.get_by_text("0 lines to look at")).to_be_visible()
    undo(page)
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(page.get_by_text("0 lines to look at")).to_be_visible()
    assert line_of(desk, "letter.jpg", 4)["text"] == "A chaplain, and a chaplain"
    undo(page)
    expect(page.get_by_text("1 line to look at")).to_be_visible()
    assert line_of(desk, "letter.jpg", 4)["text"] == "A chaplein, and a chaplein"


def test_a_statement_is_made_with_its_line_and_date_changed_and_withdrawn(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    entity = desk.engine.ask("POST", "/api/entities", {"canonical_name": "Ana", "entity_type": "person"})[
        "id"
    ]
    show(page, desk, f"people/{entity}")
    page.get_by_role("button", name="New statement").click()
    form = page.get_by_role("dialog", name="New statement")
    form.get_by_label("What is stated").fill("Ana sold the mill")
    form.get_by_label("Date, as it is written").fill("12 May 1593")
    expect(form.get_by_text("That was 1593-05-12.")).to_be_visible()
    form.get_by_role("combobox", name="Page").select_option(label="letter.jpg")
    text = line_of(desk, "letter.jpg", 0)["text"]
    form.get_by_role("radio", name=text).check()
    check(page, "statement-form", shot)
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name=text)).to_be_visible()
    check(page, "statements", shot)
    (claim,) = desk.engine.ask("GET", f"/api/claims?entity_id={entity}")["items"]
    assert (claim["source_excerpt"], claim["date_values"][0]["iso_start"]) == (text, "1593-05-12")
    page.get_by_role("button", name="Change: Ana sold the mill").click()
    page.get_by_role("dialog").get_by_label("What is stated").fill("Ana sold her mill")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    withdraw = page.get_by_role("button", name="Withdraw: Ana sold her mill")
    withdraw.click()
    expect(page.get_by_text("Nothing is stated yet.")).to_be_visible()
    undo(page)
    expect(withdraw).to_be_visible()
    undo(page)
    expect(page.get_by_role("button", name="Withdraw: Ana sold the mill")).to_be_visible()
    undo(page)
    expect(page.get_by_text("Nothing is stated yet.")).to_be_visible()


def test_a_hand_gets_lines_and_a_letterform_an_example_cut_out_of_one(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    show(page, desk, "hands")
    expect(page.get_by_role("heading", name="No hands yet")).to_be_visible()
    check(page, "hands-empty", shot)
    for name in ("Hand A", LONG):
        page.get_by_role("button", name="New hand").click()
        page.get_by_role("dialog").get_by_label("Name").fill(name)
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    text = line_of(desk, "letter.jpg", 0)["text"]

    def pick() -> None:
        form = page.get_by_role("dialog")
        form.get_by_role("combobox", name="Page").select_option(label="letter.jpg")
        form.get_by_role("radio", name=text).check()

    page.get_by_role("button", name="Add an example").click()
    pick()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 example · 1 page")).to_be_visible()
    check(page, "hands", shot)
    page.get_by_role("link", name="Hand A").click()
    page.get_by_role("button", name="The same as…").click()
    page.get_by_role("dialog").get_by_role("checkbox").check()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.get_by_text("1 example · 1 page")).to_be_visible()
    undo(page)
    expect(page.get_by_role("link", name=LONG)).to_be_visible()

    page.get_by_role("link", name="Letterforms").click()
    page.get_by_role("button", name="New letterform").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Letter", exact=True).fill("g")
    form.get_by_label("Name").fill("open g")
    form.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Add an example").click()
    pick()
    form.get_by_label("To", exact=True).fill("0.12")
    check(page, "cutter", shot)
    before = desk.lines("letter.jpg")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 example · 1 page")).to_be_visible()
    check(page, "letters", shot)
    (item,) = desk.engine.ask("GET", "/api/letterforms?character=g")["items"]
    segment = desk.engine.ask("GET", f"/api/segments/{item['segment_id']}")["segment"]
    assert segment["bbox_w"] < 0.2
    # What is cut out of a line changes nothing of the text.
    assert desk.lines("letter.jpg") == before
    # The example and what was cut out for it are taken back together.
    saved = page.get_by_text("“open g” is saved.").last
    saved.locator("..").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("No examples yet")).to_be_visible()
    assert desk.engine.ask("GET", f"/api/segments/{item['segment_id']}")["deleted"]


def test_a_page_is_laid_on_the_ground_and_shows_its_places(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    show(page, desk, "maps")
    expect(page.get_by_text("No place of the project has coordinates yet.")).to_be_visible()
    check(page, "maps-empty", shot)
    for name, lon, lat in (("Paris", 2.35, 48.86), ("Chartres", 1.49, 48.45), (LONG, 3.4, 47.8)):
        value = {"label": name, "geometry_type": "point", "lat": lat, "lon": lon, "basis": "known"}
        body = {"canonical_name": name, "entity_type": "location", "place_values": [value]}
        desk.engine.ask("POST", "/api/entities", body)
    expect(page.get_by_text("3 places")).to_be_visible()
    check(page, "maps-grid", shot)
    deed = next(page for page in desk.pages if page.startswith("deed"))
    page.get_by_role("combobox", name="Page").select_option(label=deed)
    picture = page.get_by_role("region", name="Picture of the map")
    corners = ((0.1, 0.1, 1, 50), (0.9, 0.1, 4, 50), (0.9, 0.5, 4, 47), (0.1, 0.5, 1.2, 47))
    for number, (x, y, lon, lat) in enumerate(corners):
        box = picture.locator("svg").bounding_box()
        assert box is not None
        if number:
            page.get_by_role("button", name="Set a point by numbers").click()
            page.get_by_label("From the left, 0 to 1").fill(str(x))
            page.get_by_label("From the top, 0 to 1").fill(str(y))
        else:
            picture.locator("svg").click(position={"x": x * box["width"], "y": y * box["height"]})
        page.get_by_label("Latitude", exact=True).fill(str(lat))
        page.get_by_label("Longitude", exact=True).fill(str(lon))
        page.get_by_role("button", name="Set the point").click()
        expect(page.get_by_role("button", name=f"Remove point {number + 1}")).to_be_visible()
    page.get_by_label("Transformation").select_option(label="Polynomial of the first order")
    expect(page.get_by_text("m off (root mean square)")).to_be_visible()
    expect(picture.get_by_role("link", name="Paris")).to_be_visible()
    check(page, "map", shot)
    (item,) = desk.engine.ask("GET", "/api/georeference/maps")["items"]
    assert (item["document_id"], item["have"], item["status"]) == (desk.pages[deed], 4, "ready")
    undo(page)
    expect(picture.get_by_role("link", name="Paris")).to_have_count(0)
    undo(page)
    expect(page.get_by_role("button", name="Remove point 4")).to_have_count(0)


def test_what_an_agent_proposes_is_taken_or_turned_down_in_groups_and_taken_back(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    ask = desk.engine.ask
    show(page, desk, "proposals")
    expect(page.get_by_text("There is no branch of this project.")).to_be_visible()
    check(page, "proposals-empty", shot)
    agent = ask("POST", "/api/tokens", {"name": "copyist", "role": "editor"})
    about = {"name": f"{LONG} <b>x</b>", "made_for": "copyist", "for_token": agent["id"]}
    answer = ask("POST", "/api/branches", about)
    there = {"token": agent["token"], "library": answer["library_path"]}
    deed = next(name for name in desk.pages if name.startswith("deed"))
    before = {name: desk.lines(name) for name in ("letter.jpg", deed)}
    for name in before:
        line = line_of(desk, name, 5)
        ask("POST", f"/api/segments/{line['segment_id']}/correct", {"text": line["text"] + " Amen"}, **there)
    clash = line_of(desk, "letter.jpg", 0)["segment_id"]
    ask("POST", f"/api/segments/{clash}/correct", {"text": "Of the branch"}, **there)
    shapes = ask("GET", f"/api/segments/document/{desk.pages['letter.jpg']}", **there)["segments"]
    shape = next(shape for shape in shapes if shape["id"] == clash)
    lower = {"baseline": [[x, y + 0.01] for x, y in shape["baseline"]], "expected_version": shape["version"]}
    ask("PUT", f"/api/segments/{clash}", {"segment_id": clash, **lower}, **there)
    ask("POST", "/api/entities", {"canonical_name": LONG + " too", "entity_type": "person"}, **there)
    ask("POST", f"/api/segments/{clash}/correct", {"text": "Of the project"})
    ask("POST", f"/api/branches/{answer['id']}/propose", {"summary": "Two pages\n<b>read</b> again"}, **there)
    expect(page.get_by_role("link", name="1 proposal waits")).to_be_visible()
    expect(page.get_by_text("2 pages, 3 lines changed")).to_be_visible()
    check(page, "proposals", shot)
    page.get_by_role("link", name=LONG).click()
    letter = page.get_by_role("region", name="Readings, letter.jpg")
    expect(letter.get_by_text("In the project: Of the project")).to_be_visible()
    expect(letter.locator("ins", has_text="Amen")).to_be_visible()
    expect(letter.get_by_role("img").first).to_be_visible()
    drawn = page.get_by_role("region", name="Shapes, letter.jpg")
    expect(
        drawn.get_by_role("img", name="The outlines before and after").locator("image, .base, .theirs")
    ).to_have_count(3)
    check(page, "proposal", shot)
    for kind in ("Readings, letter.jpg", "Readings, deed", "Shapes, letter.jpg"):
        page.get_by_role("checkbox", name=f"Choose: {kind}").check()
    take = page.get_by_role("button", name="Take 3 chosen")
    take.click()
    expect(page.get_by_text("Both sides changed the same in 1 group.")).to_be_visible()
    page.get_by_label("In a conflict").select_option("keep both readings")
    take.click()
    expect(page.get_by_text("3 groups of changes were taken.")).to_be_visible()
    expect(letter).to_have_count(0)
    assert desk.lines("letter.jpg")[5] == before["letter.jpg"][5] + " Amen"
    page.get_by_role("button", name="Turn down: Names").click()
    page.get_by_role("dialog").get_by_label("Why").fill("There is no such person")
    check(page, "proposal-rejecting", shot)
    page.get_by_role("dialog").get_by_role("button", name="Turn down").click()
    expect(page.get_by_role("heading", name="Nothing is left to decide")).to_be_visible()
    page.get_by_text("1 group was turned down").click()
    expect(page.get_by_text("There is no such person")).to_be_visible()
    expect(page.get_by_role("link", name="1 proposal waits")).to_have_count(0)
    told = ask("GET", f"/api/branches/{answer['id']}", **there)["rejected"]
    assert [item["reason"] for item in told] == ["There is no such person"]
    check(page, "proposal-done", shot)
    undo(page)
    expect(page.get_by_role("region", name="Names")).to_be_visible()
    undo(page)
    expect(letter).to_be_visible()
    assert desk.lines(deed) == before[deed]
    assert desk.lines("letter.jpg")[0] == "Of the project"


def test_names_that_may_be_the_same_are_looked_for_merged_and_taken_back(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    for name in ("Moscou", "Moscow"):
        desk.engine.ask("POST", "/api/entities", {"canonical_name": name, "entity_type": "location"})
    show(page, desk, "people")
    page.get_by_role("button", name="Look for names that may be the same").click()
    pair = page.get_by_role("listitem").filter(has_text="are nearly the same.")
    expect(pair).to_be_visible(timeout=60_000)
    expect(pair.get_by_text("likeness 93%")).to_be_visible()
    check(page, "people-same", shot)
    pair.get_by_role("button", name="The same: merge").click()
    expect(pair).to_have_count(0)
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(pair).to_be_visible()
