"""Names are in one order wherever they are listed: in lists, tables, searches, exports and imports."""

from __future__ import annotations

import csv
import io
import os
import random
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from armarium.api import Library
from armarium_documents.api import pages_under, walk_folder

WORDS = (
    "avila",
    "Ávila",
    "ávila",
    "AVILA",
    "Zamora",
    "zeta",
    "Ñandú",
    "nandu",
    "Ölberg",
    "oliva",
    "c",
    "C",
    "ç",
)
NUMBERS = ("9", "10", "007", "7", "70", "1832", "12345678901234567890")


def random_names(seed: int, count: int = 300) -> list[str]:
    chance = random.Random(seed)
    names: set[str] = set()
    while len(names) < count:
        parts = [chance.choice(chance.choice((WORDS, NUMBERS))) for _ in range(chance.randint(1, 4))]
        names.add("".join(part + chance.choice(("", " ", "-", ", ", "_")) for part in parts).strip())
    return chance.sample(sorted(names), count)


def in_order(names: list[str]) -> list[str]:
    """Sort as a person would: neither case, accents nor punctuation count unless nothing else differs, and 9 is before 10."""

    def key(name: str) -> tuple[Any, ...]:
        letters = [sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign)]
        plain = " ".join(re.findall("[a-z0-9]+", "".join(letters).lower()))
        found = re.findall("[0-9]+|[a-z ]", plain)
        return [(ord("0"), int(one)) if one.isdigit() else (ord(one), 0) for one in found], name

    return sorted(names, key=key)


@pytest.fixture
def leaves(do: Callable[..., dict[str, Any]]) -> tuple[str, list[str]]:
    """A folder of pages that nobody has placed, and their names in order."""
    box = str(do("document.create", {"name": "Box", "doc_type": "folder"})["id"])
    names = random_names(1)
    for name in names:
        do("document.create", {"name": name, "doc_type": "page", "parent_id": box})
    return box, in_order(names)


def read_all(ask: Callable[..., Any], path: str, **params: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    while page := ask("GET", path, params={**params, "limit": 70, "offset": len(items)})["items"]:
        items += page
    return items


def test_documents_are_listed_in_the_order_of_names(
    ask: Callable[..., Any], client: TestClient, library: Library, leaves: tuple[str, list[str]]
) -> None:
    box, names = leaves
    listed = read_all(ask, "/api/documents", parent_id=box)
    by_name = {"sort_by": "name"}
    backwards = {**by_name, "sort_direction": "desc"}
    assert [row["name"] for row in listed] == names
    assert [row["name"] for row in read_all(ask, "/api/documents", parent_id=box, **by_name)] == names
    assert [row["name"] for row in read_all(ask, "/api/documents", parent_id=box, **backwards)] == names[::-1]
    for level in ("stored", "content"):
        view = ask("GET", f"/api/documents/{box}/view", params={"level": level})
        assert [row["name"] for row in view["children"]] == names

    ids = [row["id"] for row in listed]
    for at in (1, 150, 298):
        beside = ask("GET", f"/api/documents/{ids[at]}/neighbours")
        assert (beside["before_id"], beside["after_id"]) == (ids[at - 1], ids[at + 1])
    with library.db.read() as conn:
        assert pages_under(conn, [box]) == ids

    for sort in ({}, {"sort": {"attr": "document.name", "type": "text", "direction": "asc"}}):
        rows = ask("POST", "/api/documents/dataset/query", json={"parent_id": box, "limit": 300, **sort})[
            "rows"
        ]
        assert [row["name"] for row in rows] == names
    table = client.get("/api/documents/metadata", params={"parent_id": box, "format": "csv"})
    headings, *cells = csv.reader(io.StringIO(table.content.decode("utf-8-sig")))
    assert [row[headings.index("document.path")].rpartition("/")[2] for row in cells] == names, headings
    asked = {
        "query": "",
        "sort_by": "name",
        "sort_direction": "asc",
        "filters": {"parent_id": box},
        "limit": 100,
    }
    found = [
        one
        for at in (0, 100, 200)
        for one in ask("POST", "/api/search", json={**asked, "offset": at})["results"]
    ]
    assert [one["document_id"] for one in found] == ids


def test_a_table_is_in_the_order_of_the_tree(client: TestClient, do: Callable[..., dict[str, Any]]) -> None:
    above = do("document.create", {"name": "Box", "doc_type": "folder"})["id"]
    for name in ("b", "Á", "a 10", "a 9"):
        inner = do("document.create", {"name": name, "doc_type": "folder", "parent_id": above})["id"]
        do("document.create", {"name": "leaf", "doc_type": "page", "parent_id": inner})
    table = client.get("/api/documents/metadata", params={"parent_id": above})
    paths = [
        row[1].removeprefix("/Box/") for row in csv.reader(io.StringIO(table.content.decode("utf-8-sig")))
    ]
    assert paths[1:] == [path for name in ("Á", "a 9", "a 10", "b") for path in (name, f"{name}/leaf")]


def test_entities_are_listed_in_the_order_of_names(
    ask: Callable[..., Any], do: Callable[..., dict[str, Any]]
) -> None:
    names = random_names(2)
    for name in names:
        do("entity.create", {"canonical_name": name, "entity_type": "location"})
    assert [row["canonical_name"] for row in read_all(ask, "/api/entities")] == in_order(names)


def test_files_are_imported_in_the_order_of_names(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in random_names(3):
        (source / f"{name}.jpg").touch()
    names = in_order(os.listdir(source))
    walked = [entry.position[0] for entry in walk_folder(source, recursive=True)]
    assert walked == names
    rest = [entry.position[0] for entry in walk_folder(source, recursive=True, after=(names[150],))]
    assert rest == names[151:]
