"""Random histories of entities, mentions, statements and searches that were kept: undo is exact, its refusals foretold, and
what was kept of the text for searching is right after each of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from knowledge_desk import Desk, Page

from armarium.api import Engine, Library, raw_of
from armarium.projects.doctor import examine
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None
WORDS = ("Before", "came", "Juan Garcia", "Ana Lopez", "sold", "mill")


class Moves:
    """What may be done on two deeds and what they name, chosen by chance; some of it is refused, as it should be."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pages: list[Page] = [desk.page(name=f"Deed {number}") for number in range(2)]
        self.people = [desk.entity(name) for name in ("Juan Garcia", "Ana Lopez", "J. Garcia")]

    def all(self) -> list[Move]:
        """Every move, those that make rows twice."""
        often = [self.name, self.mention, self.mention, self.state, self.correct, self.correct]
        return [*often, self.rename, self.merge, self.remove, self.repoint, self.respan, self.withdraw, self.curate,
                self.drop, self.interpret, self.confirm, self.trash, self.restore, self.save, self.ask_again, self.forget]  # fmt: skip

    def _one(self, chance: random.Random, query: str) -> Any:
        with self.desk.library.db.read() as conn:
            rows = raw_of(conn).execute(query).fetchall()
        return chance.choice(rows) if rows else None

    def _person(self, chance: random.Random) -> str | None:
        found = self._one(chance, "SELECT id FROM entity WHERE merged_into_id IS NULL ORDER BY id")
        return found and str(found[0])

    def _words(self, chance: random.Random) -> dict[str, Any]:
        page = chance.choice(self.pages)
        return {"document_id": page.id, **page.at(chance.choice(page.texts).split()[0])}

    def name(self, chance: random.Random, _: World) -> Chosen:
        return "entity.create", {"canonical_name": chance.choice(WORDS), "entity_type": "person"}

    def rename(self, chance: random.Random, _: World) -> Chosen:
        person = self._person(chance)
        return person and ("entity.update", {"entity_id": person, "canonical_name": chance.choice(WORDS)})

    def merge(self, chance: random.Random, _: World) -> Chosen:
        person, other_person = self._person(chance), self._person(chance)
        return (
            person
            and other_person
            and person != other_person
            and ("entity.merge", {"survivor_id": person, "ids": [other_person]})
        )

    def remove(self, chance: random.Random, _: World) -> Chosen:
        person = self._person(chance)
        return person and ("entity.delete", {"entity_id": person})

    def mention(self, chance: random.Random, _: World) -> Chosen:
        person = self._person(chance)
        return person and ("mention.create", {"entity_id": person, **self._words(chance)})

    def _mention(self, chance: random.Random) -> dict[str, Any] | None:
        page = chance.choice(self.pages)
        items = [item for item in self.desk.names_on(page)["items"] if item["placed"]]
        if not items:
            return None
        one = chance.choice(items)
        return {"entity_id": one["entity_id"], "document_id": page.id, "char_start": one["char_start"], "char_end": one["char_end"]}  # fmt: skip

    def repoint(self, chance: random.Random, _: World) -> Chosen:
        found_mention, other_person = self._mention(chance), self._person(chance)
        return (
            found_mention
            and other_person
            and ("mention.repoint", {**found_mention, "to_entity_id": other_person})
        )

    def respan(self, chance: random.Random, _: World) -> Chosen:
        found_mention = self._mention(chance)
        return found_mention and (
            "mention.respan", {**found_mention, "new_char_start": found_mention["char_start"], "new_char_end": found_mention["char_end"] + 1}
        )  # fmt: skip

    def withdraw(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM mention ORDER BY id")
        return found and ("mention.delete", {"mention_id": found[0]})

    def state(self, chance: random.Random, _: World) -> Chosen:
        words = self._words(chance)
        sources = {
            "source_document_id": words["document_id"],
            "source_char_start": words["char_start"],
            "source_char_end": words["char_end"],
        }
        given: dict[str, Any] = {"text": "The mill was sold", "predicate_verb": "sold", **sources}
        person = self._person(chance)
        return "claim.create", given | ({"subject_entity_id": person} if person else {})

    def curate(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM claim ORDER BY id")
        to = chance.choice(("shortlisted", "verified", "rejected"))
        return found and ("claim.update", {"claim_id": found[0], "curation_state": to})

    def drop(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM claim ORDER BY id")
        return found and ("claim.delete", {"claim_id": found[0]})

    def interpret(self, chance: random.Random, _: World) -> Chosen:
        page = chance.choice(self.pages)
        return "interpretation.create", {"document_id": page.id, "framework_id": "f", "framework_name": "F", "text": "t"}  # fmt: skip

    def correct(self, chance: random.Random, _: World) -> Chosen:
        page = chance.choice(self.pages)
        number = chance.randrange(len(page.lines))
        text = chance.choice((page.texts[number], f"{page.texts[number]} and more", "nothing of it"))
        return "representation.create", {"segment_id": page.lines[number], "text": text}

    def confirm(self, chance: random.Random, _: World) -> Chosen:
        items = self.desk.get("/api/staleness", document_id=chance.choice(self.pages).id)["items"]
        items = [{"kind": item["kind"], "id": item["id"]} for item in items if item["todo"] == "confirm"]
        return items and ("knowledge.confirm", {"items": [chance.choice(items)]})

    def trash(self, chance: random.Random, _: World) -> Chosen:
        return "document.delete", {"ids": [chance.choice(self.pages).id]}

    def restore(self, chance: random.Random, _: World) -> Chosen:
        return "document.restore", {"document_id": chance.choice(self.pages).id}

    def save(self, chance: random.Random, _: World) -> Chosen:
        return "saved_search.create", {"query": chance.choice(WORDS)}

    def ask_again(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM saved_search ORDER BY id")
        return found and ("saved_search.update", {"search_id": found[0], "query": chance.choice(WORDS)})

    def forget(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM saved_search ORDER BY id")
        return found and ("saved_search.delete", {"search_id": found[0]})


Rows = Mapping[str, Mapping[Any, Mapping[str, Any]]]


def names_a_merged_entity(rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
    """Mentions and statements name no entity that was merged into another."""
    columns = {
        "mention": ("entity_id",),
        "claim_entity": ("entity_id",),
        "claim": ("subject_entity_id", "object_entity_id"),
    }
    named = (rows.get("entity", {}).get(row[column]) for column in columns.get(table, ()))
    return any(one is not None and one["merged_into_id"] is not None for one in named)


def is_named_twice(rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
    """The same characters of a reading name an entity once."""
    if table != "mention":
        return False
    span = ("entity_id", "segment_id", "representation_id", "segment_char_start", "segment_char_end")
    own = [row[name] for name in span]
    return any(one["id"] != row["id"] and [one[name] for name in span] == own for one in rows[table].values())


LAWS = (names_a_merged_entity, is_named_twice)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_come_back_exactly(desk: Desk, engine: Engine, library: Library, seed: int) -> None:
    moves = Moves(desk).all()
    tally = Histories(engine, library, moves, seed=seed, laws=LAWS).run(8, steps=25)
    assert tally.steps > 0
    assert tally.undone > 0
    assert not set(tally.refused) - {"changed", "already-undone"}
    assert examine(engine, library.path, files=False, rebuild=False)["findings"] == []
    done = {row[0] for row in desk.rows("SELECT DISTINCT action_name FROM audit")}
    assert done >= {
        "entity.merge",
        "mention.delete",
        "claim.create",
        "saved_search.create",
        "document.restore",
    }
