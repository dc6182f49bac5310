"""Generated dataset queries, and random steps of every action that writes documents."""

from __future__ import annotations

import random
from typing import Any

from documents_fixtures import OWNER, rows, sources_of

from armarium.api import Engine, Library, ServiceError, new_id
from armarium_documents.schemas.dataset import DatasetQuery

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
            "date": "1750",
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


class Walk:
    """Random steps of every action that writes documents; some are impossible and refused."""

    def __init__(self, engine: Engine, library: Library, seed: int) -> None:
        self.engine, self.library, self.chance = engine, library, random.Random(seed)
        self.ids: list[str] = []
        self.steps: list[str] = []

    def there(self) -> list[str]:
        """Return some of the nodes that still exist, live or in the Trash."""
        return [
            identity
            for identity in self.ids[-9:]
            if rows(self.library, "SELECT 1 FROM document WHERE id = ?", identity)
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
        # Some ids are older than the others, so that new rows also come between existing ones.
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
            result = self.engine.run(
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
        self.ids.append(str((result.result or {})["id"]))
        self.steps.append(str(result.audit_id))

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
