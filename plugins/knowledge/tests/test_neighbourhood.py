"""The neighbourhood of an entity, and the lists, equal what plain Python finds among what a test has written itself."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest
from knowledge_desk import Desk, Page, machine

NAMES = ("Ana", "Blas", "Clara", "Diego", "Elena", "Fadrique", "Gil", "Hernan", "Ines")


@dataclass
class Statement:
    """A statement as the test made it: between which two, and what it rests on."""

    id: str
    subject: str
    verb: str
    target: str
    pages: set[str] = field(default_factory=set)
    statements: set[str] = field(default_factory=set)
    rejected: bool = False


@dataclass
class Graph:
    """All that a test has written of a small graph."""

    desk: Desk
    pages: list[Page]
    people: list[str]
    said: list[Statement] = field(default_factory=list)
    named_on: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    verified: set[str] = field(default_factory=set)
    trashed: set[str] = field(default_factory=set)
    restricted: set[str] = field(default_factory=set)


def write_graph(desk: Desk, chance: random.Random) -> Graph:
    """Write people, statements between them, merges, rejections, pages in the Trash and restricted ones."""
    pages = [desk.page([" ".join(NAMES)], name=f"Deed {number}") for number in range(4)]
    graph = Graph(desk, pages, [desk.entity(name) for name in NAMES])
    for one, name in zip(graph.people, NAMES, strict=True):
        for page in chance.sample(pages, chance.choice((0, 0, 1, 2))):
            desk.mention(page, one, name)
            graph.named_on[one].add(page.id)
    for number in range(chance.randrange(8, 18)):
        subject, target, verb = chance.choice(graph.people), chance.choice(graph.people), chance.choice("ab")
        rests = {page.id for page in chance.sample(pages, chance.choice((0, 0, 1, 1, 2)))}
        ids = {one.id for one in chance.sample(graph.said, chance.choice((0, 0, 1)) if graph.said else 0)}
        about = {"subject_entity_id": subject, "object_entity_id": target, "predicate_verb": verb}
        claim = desk.claim(f"Statement {number}", **about, source_ids=sorted(rests | ids))["id"]
        graph.said.append(Statement(claim, subject, verb, target, rests, ids))
    for said in chance.sample(graph.said, 2):
        desk.do("claim.update", {"claim_id": said.id, "curation_state": "rejected"})
        said.rejected = True
    for one in chance.sample(graph.people, 2):
        desk.do("entity.update", {"entity_id": one, "curation_state": "verified"})
        graph.verified.add(one)
    if chance.random() < 0.5:
        survivor, merged = chance.sample(graph.people, 2)
        desk.do("entity.merge", {"survivor_id": survivor, "ids": [merged]})
        graph.people.remove(merged)
        graph.named_on[survivor] |= graph.named_on.pop(merged, set())
        for said in graph.said:
            said.subject = survivor if said.subject == merged else said.subject
            said.target = survivor if said.target == merged else said.target
    for page in chance.sample(pages, chance.choice((0, 1, 2))):
        desk.do("document.delete", {"ids": [page.id]})
        graph.trashed.add(page.id)
    for page in chance.sample(pages, chance.choice((0, 1))):
        if page.id not in graph.trashed:
            of_page = {"target_kind": "document", "target_id": page.id}
            desk.do("rights.set", {**of_page, "restricted": True})
            graph.restricted.add(page.id)
    return graph


def resting_only_on_trash(graph: Graph) -> set[str]:
    """The statements of which all evidence is in the Trash, or itself such a statement."""
    found: set[str] = set()
    for _ in graph.said:
        for statement in graph.said:
            dead = [page in graph.trashed for page in statement.pages] + [
                statement in found for statement in statement.statements
            ]
            if dead and all(dead):
                found.add(statement.id)
    return found


def withheld_statements(graph: Graph) -> set[str]:
    """The statements with any evidence on a restricted page, or on such a statement."""
    found: set[str] = set()
    for _ in graph.said:
        found |= {
            statement.id
            for statement in graph.said
            if statement.pages & graph.restricted or statement.statements & found
        }
    return found


def withheld_people(graph: Graph) -> set[str]:
    """The people that only restricted pages and withheld statements name."""
    found, withheld = set(), withheld_statements(graph)
    for person in graph.people:
        about = {statement.id for statement in graph.said if person in (statement.subject, statement.target)}
        if (
            (graph.named_on[person] or about)
            and graph.named_on[person] <= graph.restricted
            and about <= withheld
        ):
            found.add(person)
    return found


def left_out(graph: Graph, *, by_rights: bool) -> tuple[set[str], set[str]]:
    """The statements and people that a caller is not shown; *by_rights*: one from whom restricted pages are withheld."""
    dead, hidden_people = resting_only_on_trash(graph), withheld_people(graph) if by_rights else set()
    withheld = withheld_statements(graph) if by_rights else set()
    for person in graph.people:
        about = {statement.id for statement in graph.said if person in (statement.subject, statement.target)}
        on = graph.named_on[person] - (graph.restricted if by_rights else set())
        has_dead = bool(on & graph.trashed or about & dead)
        if has_dead and person not in graph.verified and not on - graph.trashed and not about - dead:
            hidden_people.add(person)
    return dead | withheld, hidden_people


def expect_right(graph: Graph, answer: dict[str, Any], depth: int, limit: int, *, by_rights: bool) -> None:
    """Compare an answer with a walk over the statements, one step after the other."""
    hidden_statements, hidden_people = left_out(graph, by_rights=by_rights)
    shown = [
        statement
        for statement in graph.said
        if statement.id not in hidden_statements
        and not statement.rejected
        and not {statement.subject, statement.target} & hidden_people
    ]
    levels = [{answer["entity_id"]}]
    for _ in range(depth):
        nearer = set().union(*levels)
        beside = {item.target for item in shown if item.subject in levels[-1]}
        beside |= {item.subject for item in shown if item.target in levels[-1]}
        levels.append(beside - nearer)
    depths_by_id = {node["id"]: node["depth"] for node in answer["nodes"]}
    room = limit
    for far, level in enumerate(levels):
        here = {one for one, at in depths_by_id.items() if at == far}
        assert here <= level
        assert len(here) == min(len(level), room)
        room -= len(here)
    assert len(depths_by_id) == len(answer["nodes"]) == limit - room
    assert answer["truncated"] == (sum(map(len, levels)) > limit)
    edges: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in shown:
        if one.subject in depths_by_id and one.target in depths_by_id:
            edges[one.subject, one.verb, one.target].append(one.id)
    got = {(edge["source"], edge["predicate"], edge["target"]): edge["claim_ids"] for edge in answer["edges"]}
    assert len(got) == len(answer["edges"])
    assert got == {key: sorted(ids) for key, ids in edges.items()}


def expect_listed(graph: Graph, headers: dict[str, str]) -> None:
    """Compare the pages of both lists, and their totals, with what is not left out."""
    statements, people = left_out(graph, by_rights=bool(headers))
    shown = {
        "entities": set(graph.people) - people,
        "claims": {statement.id for statement in graph.said} - statements,
    }
    for name, ids in shown.items():
        found: list[str] = []
        while True:
            query = {"limit": 2, "offset": len(found)}
            page = graph.desk.client.get(f"/api/{name}", params=query, headers=headers).json()
            assert page["total"] == len(ids)
            if not page["items"]:
                break
            found += [item["id"] for item in page["items"]]
        assert sorted(found) == sorted(ids)


@pytest.mark.parametrize("seed", range(6))
def test_nodes_and_edges_are_those_that_a_plain_walk_finds(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    graph, who = write_graph(desk, chance), machine(desk)
    withheld = withheld_people(graph)
    for headers in ({}, who):
        expect_listed(graph, headers)
    for one, depth in itertools.product(graph.people, (1, 2, 3)):
        limit = chance.choice((1, 2, 3, 5, 200))
        query = {"depth": depth, "limit": limit}
        path = f"/api/kg/entities/{one}/neighbourhood"
        expect_right(graph, desk.get(path, **query), depth, limit, by_rights=False)
        theirs = desk.client.get(path, params=query, headers=who)
        if one in withheld:
            assert theirs.status_code in (403, 404)
        else:
            assert theirs.status_code == 200, theirs.text
            expect_right(graph, theirs.json(), depth, limit, by_rights=True)


def test_two_outermost_neighbours_are_connected_too(desk: Desk) -> None:
    juan, ana, mill = desk.entity(), desk.entity("Ana Lopez"), desk.entity("The mill", "location")
    for target in (ana, mill):
        desk.claim("x", subject_entity_id=juan, object_entity_id=target, predicate_verb="knew")
    sold = {"subject_entity_id": ana, "object_entity_id": mill, "predicate_verb": "sold"}
    claim = desk.claim("Ana sold the mill", **sold)["id"]
    answer = desk.get(f"/api/kg/entities/{juan}/neighbourhood")
    edge = {"source": ana, "target": mill, "predicate": "sold", "claim_ids": [claim]}
    assert edge in answer["edges"]
    assert len(answer["edges"]) == 3
