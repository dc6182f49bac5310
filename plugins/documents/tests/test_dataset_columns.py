"""The columns held in memory: to the byte what SQL answers, whatever is done to the documents in between."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from documents_ground import OWNER, Run, rows, sources_of

from armarium.api import Engine, Library, ServiceError, new_id
from armarium_documents.queries.dataset import answer, table
from armarium_documents.queries.dataset.answer import dataset, dataset_in_columns, table_of
from armarium_documents.schemas.dataset import DatasetQuery

Make = Callable[..., str]

ATTRS = ["place", "pages", "date", "odd name [0]", "document.name", "document.date_iso", "document.is_starred",
         "document.sequence", "document.updated_at"]  # fmt: skip
VALUES: list[Any] = [
    None, "", "Toledo", "toledo", "10", 3, 3.0, -2.5, 1e300, 2**53 + 1, 2**63, 2**64 - 1, True, "1750", "1750-03",
    "175X", 1750, ["Toledo", "x"], [], {"k": [1.50]}, "a\u0000b", "\u0130",
]  # fmt: skip


def a_query(chance: random.Random, folders: list[str]) -> DatasetQuery:
    kinds = ["text", "number", "date", "checkbox", "choice", "rating"]
    filters = []
    for _ in range(chance.choice([0, 0, 1, 2])):
        kind = chance.choice(kinds)
        one: dict[str, Any] = {"attr": chance.choice(ATTRS), "type": kind}
        value: Any = {
            "number": chance.choice([0, 3, 2**53 + 1, 1e19]),
            "rating": 3.5,
            "checkbox": True,
        }.get(kind, chance.choice(["1750", "T", "1.0e+300", "3.0"]))
        op = chance.choice(
            ["eq", "ne"] if kind == "checkbox" else ["eq", "ne", "gte", "lte", "between", "not_set"]
        )
        one["op"] = op
        if op != "not_set":
            one["value"] = value
        if op == "between":
            one["value2"] = value
        filters.append(one)
    return DatasetQuery.model_validate(
        {
            "parent_id": chance.choice([None, *folders]),
            "recursive": chance.random() < 0.6,
            "attributed_only": chance.random() < 0.2,
            "prototype_key": chance.choice([None, None, "letter", "unheard of"]),
            "filters": filters,
            "sort": chance.choice([None, {"attr": chance.choice(ATTRS), "type": chance.choice(kinds),
                                          "direction": chance.choice(["asc", "desc"])}]),
            "limit": chance.choice([1, 3, 500]),
            "offset": chance.choice([0, 0, 2, 1000, 2**62]),
            "bins": chance.choice([None, {"attr": chance.choice(ATTRS), "granularity": "month"}]),
            "facets": chance.sample(ATTRS, 3),
        }
    )  # fmt: skip


def agree(library: Library, query: DatasetQuery) -> None:
    by_sql, by_columns = (orjson.dumps(way(library, query)) for way in (dataset, dataset_in_columns))
    assert by_sql == by_columns, query


class Walk:
    """Random steps of every kind that writes documents, by people who sometimes ask for the impossible."""

    def __init__(self, engine: Engine, library: Library, seed: int) -> None:
        self.engine, self.library, self.chance = engine, library, random.Random(seed)
        self.ids: list[str] = []
        self.steps: list[str] = []

    def there(self) -> list[str]:
        """Some of the nodes that were made and are still there, live or in the Trash."""
        return [
            one for one in self.ids[-9:] if rows(self.library, "SELECT 1 FROM document WHERE id = ?", one)
        ]

    def any(self) -> str:
        return self.chance.choice(self.ids)

    def do(self, name: str, params: dict[str, Any]) -> None:
        try:
            done = self.engine.run(self.library, name, params, OWNER)
        except ServiceError:
            return
        if done.audit_id is not None:
            self.steps.append(done.audit_id)

    def attributes(self) -> dict[str, Any]:
        return {name: self.chance.choice(VALUES) for name in ATTRS[:4] if self.chance.random() < 0.6}

    def create(self) -> None:
        identity = new_id()
        # An id of an earlier time now and then, so that rows come in between.
        if self.chance.random() < 0.3:
            identity = "0" + identity[1:]
        node = {
            "id": identity,
            "doc_type": "file",
            "name": self.chance.choice(["n", "Ñ", "z" * 300, "\U0001f600"]),
        }
        parent = self.any() if self.ids and self.chance.random() < 0.7 else sources_of(self.library)
        self.do("document.add_files", {"nodes": [{**node, "parent_id": parent}]})
        if rows(self.library, "SELECT 1 FROM document WHERE id = ?", identity):
            self.ids.append(identity)
            self.do("document.update", {"document_id": identity, "attributes": self.attributes()})

    def make_folder(self) -> None:
        try:
            made = self.engine.run(
                self.library,
                "document.create",
                {
                    "name": f"f{self.chance.randrange(5)}",
                    "parent_id": self.chance.choice([None, *self.ids[-3:]]),
                    "attributes": self.attributes(),
                    "prototype_key": self.chance.choice([None, "letter"]),
                },
                OWNER,
            )
        except ServiceError:
            return
        self.ids.append(str((made.result or {})["id"]))
        self.steps.append(str(made.audit_id))

    def update(self) -> None:
        change: dict[str, Any] = {"attributes": self.attributes()}
        if self.chance.random() < 0.5:
            change = self.chance.choice(
                [{"name": "renamed"}, {"is_starred": True}, {"date_iso": "1801-02"}, {"prototype_key": "letter"},
                 {"prototype_key": None}]
            )  # fmt: skip
        self.do("document.update", {"document_id": self.any(), **change})

    def move(self) -> None:
        self.do("document.move", {"ids": [self.any()], "parent_id": self.chance.choice([None, self.any()])})

    def trash(self) -> None:
        self.do("document.delete", {"ids": [self.any()]})

    def restore(self) -> None:
        self.do("document.restore", {"document_id": self.any()})

    def empty(self) -> None:
        self.do("document.empty_trash", {})

    def undo(self) -> None:
        if not self.steps:
            return
        try:
            undone = self.engine.undo(self.library, [self.chance.choice(self.steps[-8:])], OWNER)
        except ServiceError:
            return
        self.steps += undone["audit_ids"]

    def reopen(self) -> None:
        path = self.library.path
        self.engine.libraries.release(path)
        self.library = self.engine.libraries.get(path)

    def step(self) -> None:
        weighted = (
            [self.create] * 5 + [self.update] * 4 + [self.undo] * 4 + [self.move] * 2 + [self.trash] * 2
        )
        weighted += [self.make_folder, self.make_folder, self.restore, self.empty]
        if not self.ids:
            self.make_folder()
        self.chance.choice(weighted)()
        if self.chance.random() < 0.02:
            self.reopen()


@pytest.mark.parametrize("seed", range(4))
def test_columns_answer_as_sql_does_whatever_happens(engine: Engine, library: Library, seed: int) -> None:
    walk = Walk(engine, library, seed)
    for _ in range(60):
        for _ in range(walk.chance.choice([1, 1, 4])):
            walk.step()
        for _ in range(3):
            agree(walk.library, a_query(walk.chance, walk.there()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_columns_answer_as_sql_does_over_longer_lives(engine: Engine, library: Library, seed: int) -> None:
    walk = Walk(engine, library, seed)
    for _ in range(120):
        walk.step()
        agree(walk.library, a_query(walk.chance, walk.there()))


def test_a_change_is_followed_and_the_project_not_read_anew(
    engine: Engine, library: Library, folder: Make, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = folder("Box", attributes={"place": "Toledo"})
    query = DatasetQuery.model_validate({"recursive": True, "facets": ["place"]})
    agree(library, query)
    monkeypatch.setattr(table.DocumentTable, "_load", lambda *_: pytest.fail("read anew"))
    inner = folder("Inner", box, attributes={"place": "Cuenca"})
    agree(library, query)
    do("document.update", {"document_id": box, "attributes": {"place": ["Lima", "Cuenca"]}})
    do("document.delete", {"ids": [inner]})
    agree(library, query)


def test_what_empty_trash_removed_is_gone_even_when_as_many_came(
    library: Library, folder: Make, do: Run
) -> None:
    query = DatasetQuery.model_validate({"recursive": True, "facets": ["document.name"]})
    kept = folder("Kept")
    gone = folder("Gone", kept)
    agree(library, query)
    do("document.delete", {"ids": [gone]})
    do("document.empty_trash", {})
    # The history's numbers begin again where the removed ones stood.
    folder("New", kept)
    agree(library, query)
    names = [row["name"] for row in dataset_in_columns(library, query)["rows"]]
    assert sorted(names) == ["Kept", "New", "Sources"]


def test_many_changes_at_once_are_read_anew(
    engine: Engine, library: Library, folder: Make, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = folder("Box")
    query = DatasetQuery.model_validate({"parent_id": box, "sort": {"attr": "document.name"}})
    agree(library, query)
    nodes = [{"id": new_id(), "parent_id": box, "doc_type": "file", "name": f"n{n}"} for n in range(2_100)]
    for start in range(0, len(nodes), 500):
        do("document.add_files", {"nodes": nodes[start : start + 500]})
    agree(library, query)


def test_a_large_folder_is_answered_from_columns_and_a_small_one_by_sql(
    library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = folder("Box")
    for name in "abc":
        folder(name, box)
    monkeypatch.setattr(answer, "SMALL", 3)
    dataset(library, DatasetQuery(parent_id=box))
    dataset(library, DatasetQuery(parent_id=box, recursive=True))
    assert "documents.table" not in library.held
    assert dataset(library, DatasetQuery(recursive=True))["total"] == 5
    assert len(table_of(library).ids) == 5


@pytest.mark.parametrize(("limit", "value"), [("MOST_ROWS", 3), ("MOST_BYTES", 2_000)])
def test_what_does_not_fit_into_memory_is_answered_by_sql(
    library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    for number in range(8):
        folder(f"f{number}", attributes={"note": str(number) * 500})
    monkeypatch.setattr(table, limit, value)
    query = DatasetQuery.model_validate({"recursive": True, "facets": ["note"], "sort": {"attr": "note"}})
    for _ in range(2):
        agree(library, query)
        assert "note" not in table_of(library).columns


def test_the_column_longest_unasked_goes_first(
    library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        folder(f"f{number}", attributes=dict.fromkeys("abcd", number))
    monkeypatch.setattr(table, "MOST_COLUMNS", 3)
    for name in "abac":
        agree(library, DatasetQuery.model_validate({"recursive": True, "facets": [name]}))
    assert set(table_of(library).columns) == {"a", "c", "document.name"}


def test_values_that_no_document_has_any_longer_do_not_pile_up(
    library: Library, folder: Make, do: Run
) -> None:
    box = folder("Box", attributes={"note": "first"})
    query = DatasetQuery.model_validate({"recursive": True, "facets": ["note"]})
    agree(library, query)
    # As after two thousand changes of mind.
    table_of(library).columns["note"].encode([f'"{number}"' for number in range(2_000)])
    agree(library, query)
    do("document.update", {"document_id": box, "attributes": {"note": "last"}})
    agree(library, query)
    assert table_of(library).columns["note"].size == 2


def test_the_columns_go_with_the_project(engine: Engine, library: Library, folder: Make) -> None:
    folder("Box")
    dataset_in_columns(library, DatasetQuery(recursive=True))
    held = weakref.ref(table_of(library))
    engine.libraries.release(library.path)
    gc.collect()
    assert held() is None
    opened = engine.libraries.get(library.path)
    assert "documents.table" not in opened.held
    assert dataset_in_columns(opened, DatasetQuery(recursive=True))["total"] == 2


def test_starting_an_engine_loads_no_numpy(tmp_path: Path) -> None:
    import subprocess
    import sys

    asked = (
        "import sys; from armarium_documents.plugin import armarium_plugin; armarium_plugin();"
        " import armarium_documents.queries.dataset.answer; print('numpy' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


def test_many_ask_while_one_writes(engine: Engine, library: Library, folder: Make, do: Run) -> None:
    import threading

    box = folder("Box")
    query = DatasetQuery.model_validate(
        {"recursive": True, "facets": ["n"], "sort": {"attr": "n", "type": "number"}}
    )
    failures: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                found = dataset_in_columns(library, query)
                # One snapshot: what is counted is what is listed.
                counted = sum(entry["count"] for entry in found["facets"]["n"])
                assert counted == found["total"] - 2 == len(found["rows"]) - 2
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(60):
        folder(f"f{number}", box, attributes={"n": number % 7})
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    agree(library, query)
