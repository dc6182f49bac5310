"""Random questions to random projects, with trash, rights, corrections and undo: the answers are those of plain Python."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
from search_desk import EDITOR, SearchDesk
from search_oracle import AskedTerm, Leaf, expect_hits

QUESTIONS = int(os.environ.get("ARMARIUM_SEARCH_QUESTIONS", "150"))
"""How many are asked in all; 50,000 is the full figure."""
OF_EACH = 250
"""Questions to one random project."""
FIRST = int(os.environ.get("ARMARIUM_SEARCH_SEED", "17"))
AUTHORITIES = ("primary", "secondary", "tertiary", "unknown")
WORDS = (
    "rey",
    "reyes",
    "ciudad",
    "México",
    "plata",
    "mina",
    "minas",
    "señor",
    "año",
    "1832",
    "de",
    "la",
    "fray",
    "con",
)


class Project:
    """A project that changes by chance, and what the test knows of it."""

    def __init__(self, desk: SearchDesk, chance: random.Random) -> None:
        self.desk, self.chance = desk, chance
        self.leaves: list[Leaf] = []

    def text(self) -> str:
        chance = self.chance
        words = [chance.choice(WORDS) for _ in range(chance.randint(1, 6))]
        if chance.random() < 0.2:
            words[-1] += "-"
        return " ".join(words)

    def add(self) -> None:
        chance = self.chance
        authority = chance.choice(AUTHORITIES)
        name = " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 2)))
        texts = [self.text() for _ in range(chance.randint(1, 3))]
        page = self.desk.page(*texts, name=name, source_authority=authority)
        self.leaves.append(Leaf(page.id, name, dict(zip(page.lines, texts, strict=True)), authority))

    def correct(self, leaf: Leaf) -> None:
        line, text = self.chance.choice(list(leaf.lines)), self.text()
        self.desk.correct(line, text)
        if self.chance.random() < 0.4:
            self.desk.undo()
        else:
            leaf.lines[line] = text

    def rename(self, leaf: Leaf) -> None:
        name = " ".join(self.chance.choice(WORDS) for _ in range(self.chance.randint(1, 3)))
        self.desk.do("document.update", {"document_id": leaf.id, "name": name})
        if self.chance.random() < 0.3:
            self.desk.undo()
        else:
            leaf.name = name

    def trash(self, leaf: Leaf) -> None:
        if leaf.in_trash:
            self.desk.do("document.restore", {"document_id": leaf.id})
        else:
            self.desk.do("document.delete", {"ids": [leaf.id]})
        if self.chance.random() < 0.3:
            self.desk.undo()
        else:
            leaf.in_trash = not leaf.in_trash

    def withhold(self, leaf: Leaf) -> None:
        line = self.chance.choice([None, *leaf.lines])
        target = (
            {"target_kind": "document", "target_id": leaf.id}
            if line is None
            else {"target_kind": "segment", "target_id": line}
        )
        record = self.desk.do("rights.set", {**target, "restricted": True, "readers": []})["id"]
        if self.chance.random() < 0.3:
            self.desk.undo()
        else:
            leaf.rights[record] = line

    def permit(self, leaf: Leaf) -> None:
        record = self.chance.choice(list(leaf.rights))
        self.desk.do("rights.withdraw", {"record_id": record})
        if self.chance.random() < 0.3:
            self.desk.undo()
        else:
            del leaf.rights[record]

    def change(self) -> None:
        leaf = self.chance.choice(self.leaves)
        steps: list[Callable[[Leaf], None]] = [self.trash]
        if not leaf.in_trash:
            steps = [self.correct, self.correct, self.correct, self.rename, self.trash, self.withhold]
            steps += [self.permit] * (2 if leaf.rights else 0)
        self.chance.choice(steps)(leaf)

    def question(self) -> list[AskedTerm]:
        chance = self.chance

        def word() -> str:
            return chance.choice(WORDS).lower().translate(str.maketrans("éñ", "en"))

        terms = [AskedTerm((word(),))]
        for _ in range(chance.randint(0, 2)):
            kind = chance.random()
            excluded = chance.random() < 0.25
            if kind < 0.3:
                terms.append(AskedTerm((word(), word()), is_excluded=excluded))
            elif kind < 0.5:
                terms.append(AskedTerm((word()[:2],), is_prefix=True, is_excluded=excluded))
            else:
                terms.append(AskedTerm((word(),), is_excluded=excluded))
        return terms

    def compare(self) -> None:
        asked, chance = self.question(), self.chance
        only = chance.sample(AUTHORITIES, 2) if chance.random() < 0.3 else AUTHORITIES
        offset, limit = (chance.randint(0, 3), chance.randint(1, 4)) if chance.random() < 0.3 else (0, 100)
        sent = {"limit": limit, "offset": offset, "include": ["content"]}
        if only != AUTHORITIES:
            sent["filters"] = {"source_authority": only}
        for who, for_owner in ((None, True), (EDITOR, False)):
            every = expect_hits(self.leaves, asked, for_owner=for_owner, authorities=only)
            wanted = every[offset : offset + limit]
            query = " ".join(item.write() for item in asked)
            answer = self.desk.ask(query, **sent) if who is None else self.desk.ask_as(who, query, **sent)
            found = [(result["document_id"], result["score"]) for result in answer["results"]]
            assert [one for one, _ in found] == [one for one, _ in wanted], (query, sent, for_owner)
            assert [score for _, score in found] == pytest.approx([score for _, score in wanted]), (
                query,
                sent,
                for_owner,
            )
            assert (answer["total_results"], answer["total_is_exact"]) == (len(every), True)
            assert answer["has_more"] is (offset + limit < len(every))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + -(-QUESTIONS // OF_EACH)))
def test_answers_are_those_of_the_oracle(desk: SearchDesk, seed: int) -> None:
    project = Project(desk, random.Random(seed))
    for _ in range(8):
        project.add()
    for number in range(min(QUESTIONS, OF_EACH)):
        if number % 5 == 0:
            project.change()
        project.compare()
