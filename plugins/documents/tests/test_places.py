"""Moving and ordering: the tree stays a tree, and the order is the requested one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import OWNER, Run, names_under

from armarium.api import Conflict, Engine, Invalid, Library, NotFound, Outcome

Make = Callable[..., str]


def test_moved_nodes_go_last_first_or_after_a_sibling(do: Run, folder: Make, library: Library) -> None:
    box = folder("Box")
    ids = {name: folder(name, box) for name in "abcde"}
    do("document.move", {"ids": [ids["b"]], "parent_id": box})
    assert names_under(library, box) == ["a", "c", "d", "e", "b"]
    do("document.move", {"ids": [ids["e"]], "parent_id": box, "after_id": None})
    assert names_under(library, box) == ["e", "a", "c", "d", "b"]
    do("document.move", {"ids": [ids["d"], ids["e"]], "parent_id": box, "after_id": ids["a"]})
    assert names_under(library, box) == ["a", "d", "e", "c", "b"]


def test_any_order_can_be_reached(do: Run, folder: Make, library: Library) -> None:
    box = folder("Box")
    ids = {name: folder(name, box) for name in "abcdefgh"}
    wanted = list("abcdefgh")
    chance = random.Random(7)
    for _ in range(80):
        name = chance.choice(wanted)
        wanted.remove(name)
        at = chance.randrange(len(wanted) + 1)
        after = ids[wanted[at - 1]] if at else None
        wanted.insert(at, name)
        do("document.move", {"ids": [ids[name]], "parent_id": box, "after_id": after})
        assert names_under(library, box) == wanted


def test_a_move_into_itself_or_beneath_is_refused(do: Run, folder: Make) -> None:
    outer = folder("Outer")
    inner = folder("Inner", folder("Middle", outer))
    for target in (outer, inner):
        with pytest.raises(Conflict) as refused:
            do("document.move", {"ids": [outer], "parent_id": target})
        assert refused.value.code == "move_into_itself"


def test_what_cannot_be_moved_there_is_refused(do: Run, folder: Make, note: Make) -> None:
    box, text = folder("Box"), note("Note")
    with pytest.raises(NotFound):
        do("document.move", {"ids": ["f" * 32], "parent_id": box})
    with pytest.raises(NotFound):
        do("document.move", {"ids": [text], "parent_id": "f" * 32})
    with pytest.raises(Invalid):
        do("document.move", {"ids": [box], "parent_id": text})
    with pytest.raises(NotFound, match="f" * 32):
        do("document.move", {"ids": [text], "parent_id": box, "after_id": "f" * 32})
    with pytest.raises(Invalid) as refused:
        do("document.move", {"ids": [text], "parent_id": box, "after_id": folder("Elsewhere")})
    assert refused.value.code == "not_a_sibling"
    do("document.delete", {"ids": [text]})
    with pytest.raises(Conflict):
        do("document.move", {"ids": [text], "parent_id": box})


def test_a_deep_branch_is_not_hung_where_it_becomes_too_deep(do: Run, folder: Make) -> None:
    def chain(levels: int) -> tuple[str, str]:
        first = last = folder("Level")
        for _ in range(levels - 1):
            last = folder("Level", last)
        return first, last

    _, bottom = chain(60)
    top, _ = chain(41)
    with pytest.raises(Invalid) as refused:
        do("document.move", {"ids": [top], "parent_id": bottom})
    assert refused.value.code == "too_deep"


def test_a_move_is_one_step_and_taken_back_whole(
    act: Callable[..., Outcome], engine: Engine, folder: Make, library: Library
) -> None:
    box, other_folder = folder("Box"), folder("Other")
    ids = [folder(name, box) for name in "abc"]
    outcome = act("document.move", {"ids": ids, "parent_id": other_folder})
    assert names_under(library, other_folder) == ["a", "b", "c"]
    engine.undo(library, [outcome.audit_id], OWNER)
    assert names_under(library, box) == ["a", "b", "c"]
    assert names_under(library, other_folder) == []


def test_undo_and_redo_in_another_order_close_no_circle(
    act: Callable[..., Outcome], engine: Engine, library: Library, folder: Make, client: Any
) -> None:
    outer, inner, below = folder("Outer"), folder("Inner"), folder("Below")
    moved = act("document.move", {"ids": [inner], "parent_id": outer})
    undone = engine.undo(library, [moved.audit_id], OWNER)["audit_ids"]
    act("document.move", {"ids": [below], "parent_id": inner})
    later = act("document.move", {"ids": [outer], "parent_id": below})
    with pytest.raises(Conflict, match="would come to lie beneath itself") as refused:
        engine.undo(library, undone, OWNER)
    assert refused.value.fields["reason"] == "changed"
    assert refused.value.fields["later_audit_id"] == later.audit_id
    assert names_under(library, outer) == []
    for level in ("stored", "content"):
        assert client.get(f"/api/documents/{outer}/view", params={"level": level}).status_code == 200
    engine.undo(library, [later.audit_id], OWNER)
    engine.undo(library, undone, OWNER)
    assert names_under(library, outer) == ["Inner"]


def test_nodes_moved_together_close_no_circle(do: Run, folder: Make, library: Library) -> None:
    a, b = folder("A"), folder("B")
    for ids, parent in (([a, b], b), ([b, a], a)):
        with pytest.raises(Conflict, match="cannot be moved into itself"):
            do("document.move", {"ids": ids, "parent_id": parent})
    assert sorted(names_under(library, None)) == ["A", "B", "Sources"]
