"""Finding documents by the command line, with a contact sheet."""

from __future__ import annotations

import json
from typing import Any

from armarium_testing.command_line import Machine, ids


def _act(machine: Machine, action: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = machine.succeed(
        "action", "run", action, "-p", json.dumps(params), "--json"
    ).json["result"]
    return answer


def test_find_documents_tells_what_it_found_and_draws_a_sheet(wills: Machine) -> None:
    from PIL import Image

    unread = wills.expect_refusal("find-documents", "pages", "--sheet", "sheet.png")
    assert "None of the 3 pages has been read, so there is nothing to judge by." in unread
    for page, words in (("1.png", "SENTENCIA DE LA SALA"), ("2.png", "Y nada más se halló en la casa.")):
        page_id = ids(wills)[page]
        made = _act(wills, "segment.pass_create", document_id=page_id, name="By hand")
        place = {"pass_id": made["id"], "kind": "line", "anchor": {"rect": [0.1, 0.1, 0.8, 0.1]}}
        line = _act(wills, "segment.create", document_id=page_id, **place)
        _act(wills, "representation.create", segment_id=line["id"], text=words)
    answer = wills.succeed("find-documents", "pages", "--sheet", "sheet.png").out
    assert "Found 1 document in 3 pages (rules-1)." in answer
    assert "0. Sentencia: 3 pages\n" in answer
    assert "% sure" not in answer
    assert "1 of its pages has not been read" in answer
    with Image.open("sheet.png") as picture:
        assert picture.format == "PNG"
        assert picture.width > 1000
    assert "pass --overwrite" in wills.expect_refusal("find-documents", "pages", "--sheet", "sheet.png")
    last = wills.succeed("find-documents", "pages", "--last", "--json").json
    assert [finding["kind"] for finding in last["proposals"][0]["findings"]] == ["no-reading"]
    assert "There is no proposal" in wills.expect_refusal("find-documents", "Sources", "--last")
