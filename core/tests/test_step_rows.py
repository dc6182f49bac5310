"""What plugins ask of the audit log: who did what, what of a set is in effect, where a chain of undos begins and ends."""

from __future__ import annotations

import pytest

from armarium.api import (
    count_in_effect,
    find_step,
    first_of_chain,
    in_effect_of_chain,
    last_step,
    list_steps,
    targets_of_set,
)
from armarium.principals import LOCAL_OWNER


@pytest.fixture
def ask(shelf_library):
    def ask_about(question, *given, **named):
        with shelf_library.db.read() as conn:
            return question(conn, *given, **named)

    return ask_about


@pytest.fixture
def undo(shelf_engine, shelf_library):
    return lambda audit_id: shelf_engine.undo(shelf_library, [audit_id], LOCAL_OWNER)["audit_ids"][0]


def test_a_step_says_who_did_what(run, ask) -> None:
    result = run("shelf.create", name="A")
    step = ask(find_step, result.audit_id, "params")
    assert (step.action_name, step.actor_kind, step.params) == ("shelf.create", "person", {"name": "A"})
    assert ask(find_step, result.audit_id).params == {}
    assert ask(last_step) == step.seq
    assert ask(find_step, "none") is None


def test_steps_are_found_by_number_action_and_what_came_before(run, ask) -> None:
    before = ask(last_step)
    first, second = run("shelf.create", name="A"), run("shelf.create", name="B")
    assert [one.id for one in ask(list_steps, after=before)] == [first.audit_id, second.audit_id]
    assert [one.id for one in ask(list_steps, after=before, newest=True, limit=1)] == [second.audit_id]
    assert [one.id for one in ask(list_steps, numbers=[before + 2])] == [second.audit_id]
    assert ask(list_steps, actions=("shelf.add", "shelf.clear"), after=before) == []


def test_a_chain_of_undos_begins_with_the_step_and_one_of_it_is_in_effect(run, ask, undo) -> None:
    result = run("shelf.create", name="A").audit_id
    back = undo(result)
    again = undo(back)
    assert {ask(first_of_chain, one) for one in (result, back, again)} == {result}
    assert ask(in_effect_of_chain, result) == result
    undo(result)
    assert ask(in_effect_of_chain, result) != result


def test_a_set_tells_how_many_of_its_steps_are_in_effect(run, shelf_engine, shelf_library, ask, undo) -> None:
    def within(set_id: str, name: str):
        return shelf_engine.run(shelf_library, "shelf.create", {"name": name}, LOCAL_OWNER, set_id=set_id)

    first, second = within("one", "A"), within("one", "B")
    within("two", "C")
    assert ask(count_in_effect, ["one", "two", "three"]) == {"one": 2, "two": 1}
    assert ask(count_in_effect, ["one"], after=first.audit_id) == {"one": 1}
    undo(second.audit_id)
    undo(first.audit_id)
    assert ask(count_in_effect, ["one"]) == {"one": 0}
    assert set(ask(targets_of_set, "one")) >= {first.result["id"], second.result["id"]}
