"""Entities, statements, doubts and matches on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from armarium_testing.command_line import Machine, ids


def did(machine: Machine, action: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = machine.succeed(
        "action", "run", action, "-p", json.dumps(params), "--json"
    ).json["result"]
    return answer


def test_a_historian_asks_what_is_known(read_pages: Machine) -> None:
    desk = read_pages
    page = ids(desk)["1.png"]
    first = did(desk, "entity.create", canonical_name="Linea", entity_type="person", description="A line")
    where = {"document_id": page, "char_start": 0, "char_end": 5}
    did(desk, "mention.create", entity_id=first["id"], **where)
    said = {
        "text": "The line is first",
        "source_document_id": page,
        "source_char_start": 0,
        "source_char_end": 7,
    }
    did(desk, "claim.create", subject_entity_id=first["id"], **said)
    assert "Linea" in desk.succeed("entities", "LIN").out
    assert desk.succeed("entities", "--on", "1.png", "--json").json["total"] == 1
    assert "A line" in desk.succeed("entity", "Linea").out
    desk.succeed("entity", "Linea", "--as", "json", "--out", "linea.json")
    assert json.loads(Path("linea.json").read_text())["entity"]["canonical_name"] == "Linea"
    assert "No entity here" in desk.expect_refusal("entity", "Nobody")
    assert "“linea 1”" in desk.succeed("statements", "first", "--about", "Linea", "--on", "1.png").out
    assert desk.succeed("in-doubt", "1.png").out == "Nothing is in doubt.\n"
    line = desk.succeed("statements", "--json").json["items"][0]["evidence"][0]["segment_id"]
    did(desk, "representation.create", segment_id=line, text="linea 1 et cetera")
    assert "confirm: mention linea" in desk.succeed("in-doubt", "1.png").out
    assert desk.succeed("in-doubt").out == desk.succeed("in-doubt", "1.png").out
    assert "Nothing" in desk.succeed("in-doubt", "1.png", "--confirm").out
    did(desk, "entity.create", canonical_name="Línea", entity_type="person")
    answer = desk.succeed("same-entities", "--find").out
    assert answer.startswith("1 pair to decide\n1.00  Linea – Línea")
    assert "2 entities are called 'linea'" in desk.expect_refusal("entity", "linea")
