"""Finding documents by the command line, with a contact sheet."""

from __future__ import annotations

from armarium_testing.command_line import Machine


def test_find_documents_tells_what_it_found_and_draws_a_sheet(wills: Machine) -> None:
    from PIL import Image

    said = wills.succeed("find-documents", "pages", "--sheet", "sheet.png").out
    assert "Found 1 document in 3 pages (rules-1)." in said
    assert "0. 1.png: 3 pages, 88% sure" in said
    assert "It begins with the first page." in said
    with Image.open("sheet.png") as picture:
        assert picture.format == "PNG"
        assert picture.width > 1000
    assert "pass --overwrite" in wills.expect_refusal("find-documents", "pages", "--sheet", "sheet.png")
    last = wills.succeed("find-documents", "pages", "--last", "--json").json
    assert [one["kind"] for one in last["proposals"][0]["findings"]] == ["no-reading"] * 3
    assert "There is no proposal" in wills.expect_refusal("find-documents", "Sources", "--last")
