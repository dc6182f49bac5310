"""A family is transferred according to its foreign keys; a carrier may add to that; nothing else about it is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents_fixtures import OWNER, count, rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transfer_fixtures import FULL_CARRIER, OpenProjects, cut_for, loom_plugin, proposed

from armarium.api import Engine, Library, new_id
from armarium.projects.doctor import examine
from armarium_documents.plugin import armarium_plugin
from armarium_testing.digest import table_digests


def two_with(make_engine: Callable[..., Engine], folder: Path, **carrier: Any) -> OpenProjects:
    engine = make_engine(plugins=[armarium_plugin(), loom_plugin(**carrier)])
    for name in ("From", "To"):
        engine.run(None, "library.create", {"path": str(folder / f"{name}.library")}, OWNER)
    return OpenProjects(
        engine, *(engine.libraries.get(folder / f"{name}.library") for name in ("From", "To"))
    )


def weave(projects: OpenProjects, table: str, *rows: dict[str, Any]) -> list[str]:
    made = [{"id": new_id(), **row} for row in rows]
    projects.do("loom.weave", table=table, rows=made)
    return [row["id"] for row in made]


def create_cloths(projects: OpenProjects) -> dict[str, Any]:
    """Create two notes in a box and one outside, with cloths, threads and knots within and between them."""
    box, outside = projects.make("Box"), projects.note("Outside")
    first, second = projects.note("First", box), projects.note("Second", box)
    (person,) = weave(projects, "loom_person", {"name": "Ana"})
    (away,) = weave(projects, "loom_cloth", {"page_id": outside, "pattern": {}})
    cloth, other = weave(
        projects,
        "loom_cloth",
        {
            "page_id": first,
            "hue": "madder",
            "pattern": {"page": first, "free": "x", "list": [second, outside]},
        },
        {"page_id": second, "woven_with_id": away, "pattern": {}},
    )
    later, early = new_id(), new_id()
    projects.do(
        "loom.weave",
        table="loom_thread",
        rows=[
            {"id": later, "cloth_id": cloth, "spun_from_id": early, "text": f"names {first} in words"},
            {"id": early, "cloth_id": cloth, "spun_from_id": None, "text": None},
        ],
    )
    (strange,) = weave(projects, "loom_thread", {"cloth_id": away, "text": "stays"})
    within, between = weave(
        projects,
        "loom_knot",
        {"left_id": later, "right_id": early, "tied_by_id": person},
        {"left_id": later, "right_id": strange, "tied_by_id": None},
    )
    (weaver,) = weave(projects, "loom_weaver", {"cloth_id": cloth, "person_id": person})
    weave(projects, "loom_mark", {"page_id": first, "words": "one"}, {"page_id": second, "words": "two"})
    return locals()


def test_a_family_of_foreign_keys_is_carried_without_a_word(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    projects = two_with(make_engine, tmp_path)
    cloths = create_cloths(projects)
    result = projects.transfer([cloths["box"]])
    assert result["written"] == result["planned"] == {"documents": 3, "page_records": 7, "files": 0}
    copied = dict(rows(projects.target, "SELECT name, id FROM document"))
    (pattern,) = rows(projects.target, "SELECT pattern FROM loom_cloth WHERE page_id = ?", copied["First"])
    assert pattern == (
        f'{{"page":"{copied["First"]}","free":"x","list":["{copied["Second"]}","{cloths["outside"]}"]}}',
    )
    # A thread may refer to a later one; the words of a text are not changed, even where they contain an id.
    ((spun, early, words),) = rows(
        projects.target,
        "SELECT t.spun_from_id, e.id, t.text FROM loom_thread t JOIN loom_thread e ON e.text IS NULL"
        " WHERE t.text IS NOT NULL",
    )
    assert spun == early
    assert words == f"names {cloths['first']} in words"
    assert rows(projects.target, "SELECT tied_by_id FROM loom_knot") == [(None,)]
    assert rows(projects.target, "SELECT words FROM loom_mark ORDER BY number") == [("one",), ("two",)]
    assert count(projects.target, "loom_weaver") == count(projects.target, "loom_person") == 0
    # The answer names what could not be transferred, and what lost a reference.
    left = {(entry["kind"], entry["id"]) for entry in result["left_behind"]}
    assert left == {("knot", cloths["between"]), ("weaver", cloths["weaver"])}
    cut = {(edge["kind"], edge["from_id"], edge["to_id"]) for edge in result["edges_cut"]}
    assert cut == {("cloth", cloths["other"], cloths["away"]), ("knot", cloths["within"], cloths["person"])}
    assert rows(projects.target, "SELECT count(*) FROM loom_cloth WHERE woven_with_id IS NOT NULL") == [(0,)]
    assert examine(projects.engine, projects.target.path)["findings"] == []


def test_a_carrier_adds_vocabulary_companions_and_proposals(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    proposed.clear()
    cut_for.clear()
    projects = two_with(make_engine, tmp_path, **FULL_CARRIER)
    cloths = create_cloths(projects)
    projects.do("loom.weave", table="loom_hue", rows=[{"key": "madder", "label": "Madder"}])
    result = projects.transfer([cloths["box"]], "move")
    assert result["vocabulary"] == {"matched": [], "made": [{"kind": "hue", "key": "madder", "id": "madder"}]}
    assert result["written"]["entities"] == 1
    ((person, name),) = rows(projects.target, "SELECT id, name FROM loom_person")
    assert (name, proposed) == ("Ana", [[person]])
    assert person != cloths["person"]
    assert result["entity_matches"][0]["candidate_entity_id"] == person
    assert rows(projects.target, "SELECT person_id FROM loom_weaver") == [(person,)]
    assert [cut["kind"] for cut in result["cuts"]] == ["workspace_slot"]
    assert cut_for == [3]
    again = projects.transfer([cloths["outside"]])
    assert again["written"] == {"documents": 1, "page_records": 2, "files": 0}


def test_a_change_while_a_move_is_copied_is_not_lost(
    make_engine: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_documents.actions.transfer import copying

    projects = two_with(make_engine, tmp_path)
    cloths = create_cloths(projects)
    check = copying._Transfer._check

    def change(self: Any) -> None:
        check(self)
        projects.do("loom.dye", table="loom_thread", rows=[{"id": cloths["later"], "text": "dyed meanwhile"}])

    monkeypatch.setattr(copying._Transfer, "_check", change)
    before = table_digests(projects.target.db, projects.engine.library_schema)
    with pytest.raises(Exception, match="changed while it was copied"):
        projects.transfer([cloths["box"]], "move")
    assert table_digests(projects.target.db, projects.engine.library_schema) == before
    assert ("Box", None) in projects.live(projects.source)
    assert projects.states() == ("taken-back", "taken-back")
    monkeypatch.undo()
    # A change elsewhere in the project is no obstacle.
    monkeypatch.setattr(
        copying._Transfer,
        "_check",
        lambda self: (
            check(self),
            projects.do(
                "loom.dye", table="loom_thread", rows=[{"id": cloths["strange"], "text": "elsewhere"}]
            ),
        ),
    )
    projects.transfer([cloths["box"]], "move")
    assert rows(projects.target, "SELECT count(*) FROM loom_thread WHERE text = 'dyed meanwhile'") == [(1,)]


def test_a_new_row_while_a_move_is_copied_is_not_lost(
    make_engine: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_documents.actions.transfer import copying

    projects = two_with(make_engine, tmp_path)
    cloths = create_cloths(projects)
    check = copying._Transfer._check
    news = [
        ("loom_thread", {"cloth_id": cloths["cloth"], "text": "new"}),
        ("loom_mark", {"page_id": cloths["second"], "words": "new"}),
        ("document", None),
    ]
    for table, row in news:

        def change(self: Any, table: str = table, row: dict[str, Any] | None = row) -> None:
            check(self)
            if row is None:
                projects.do("document.move", ids=[cloths["first"]], parent_id=None)
            else:
                weave(projects, table, row)

        monkeypatch.setattr(copying._Transfer, "_check", change)
        with pytest.raises(Exception, match="changed while it was copied"):
            projects.transfer([cloths["box"]], "move")
    assert projects.live(projects.target) == []


Tree = list[tuple[int, int, str]]


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=st.lists(
        st.tuples(st.integers(-1, 12), st.integers(-1, 12), st.text("abc", max_size=3)),
        min_size=1,
        max_size=12,
    ),
    chosen=st.sets(st.integers(0, 11), min_size=1, max_size=4),
    mode=st.sampled_from(["copy", "move"]),
)
def test_any_forest_arrives_in_its_shape_and_goes_back(
    forest: OpenProjects, tree: Tree, chosen: set[int], mode: str
) -> None:
    """Random trees of notes whose cloths refer to each other: the copy has the shape of the original, and undo is
    exact.
    """
    projects = forest
    ids: list[str] = []
    for number, (parent, names, text) in enumerate(tree):
        above = ids[parent] if 0 <= parent < number else None
        ids.append(projects.make(f"{number}", above))
        near = ids[names] if 0 <= names < number else ids[-1]
        weave(
            projects,
            "loom_cloth",
            {"page_id": ids[-1], "woven_with_id": near, "pattern": {"near": near, "t": text}},
        )
    items = [ids[number] for number in sorted(chosen) if number < len(ids)] or ids[:1]
    before = table_digests(projects.source.db, projects.engine.library_schema)
    wanted = shape(projects.source, items)
    outcome = projects.outcome(items, mode)
    result = outcome.result or {}
    arrived = [item["id"] for item in result["new_items"]]
    tops = [item["source_id"] for item in result["new_items"]]
    assert shape(projects.target, arrived) == {
        k: v for k, v in wanted.items() if k.split("/")[0] in names_of(projects, tops)
    }
    live = table_digests(projects.target.db, projects.engine.library_schema)
    undone = projects.engine.undo(projects.target, [outcome.audit_id], OWNER)
    assert table_digests(projects.source.db, projects.engine.library_schema) == before
    assert shape(projects.target, arrived) == {}
    redone = projects.engine.undo(projects.target, undone["audit_ids"], OWNER)
    assert table_digests(projects.target.db, projects.engine.library_schema) == live
    projects.engine.undo(projects.target, redone["audit_ids"], OWNER)


@pytest.fixture
def forest(make_engine: Callable[..., Engine], tmp_path: Path) -> OpenProjects:
    return two_with(make_engine, tmp_path)


def names_of(projects: OpenProjects, ids: list[str]) -> set[str]:
    return {
        row[0]
        for identity in ids
        for row in rows(projects.source, "SELECT name FROM document WHERE id = ?", identity)
    }


def shape(library: Library, items: list[str]) -> dict[str, Any]:
    """Return the path of each live node under *items* with its cloths; what they refer to is given by its path, or as
    "outside".
    """
    paths: dict[str, str] = {}
    waiting = list(items)
    for item in items:
        for (name,) in rows(library, "SELECT name FROM document WHERE id = ? AND deleted_at IS NULL", item):
            paths[item] = name
    while waiting:
        above = waiting.pop()
        for child, name in rows(
            library, "SELECT id, name FROM document WHERE parent_id = ? AND deleted_at IS NULL", above
        ):
            if above in paths:
                paths[child] = f"{paths[above]}/{name}"
                waiting.append(child)
    found: dict[str, Any] = {}
    for identity, path in paths.items():
        cloths = rows(
            library,
            "SELECT json_extract(pattern, '$.t'), json_extract(pattern, '$.near') FROM loom_cloth WHERE page_id = ?",
            identity,
        )
        found[path] = sorted((text, paths.get(near, "outside")) for text, near in cloths)
    return found
