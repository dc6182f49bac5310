"""Undo: exact, all or none, with the four reasons for a refusal; redo is the undo of the undo."""

from __future__ import annotations

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, Invalid, NotFound, ServiceError
from armarium.history.audit import select_row, select_rows, verify_chain
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium_testing.digest import table_digests


@pytest.fixture
def digest(shelf_engine: Engine, shelf_library: Library):
    return lambda: table_digests(shelf_library.db, shelf_engine.library_schema)


@pytest.fixture
def undo(shelf_engine: Engine, shelf_library: Library):
    return lambda *ids, who=LOCAL_OWNER: shelf_engine.undo(shelf_library, list(ids), who)


def reason(refused) -> str:
    return refused.value.fields["reason"]


def test_nested_actions_are_one_undo(run, undo, digest) -> None:
    before = digest()
    outcome = run("shelf.restock", name="A")
    after = digest()
    back = undo(outcome.audit_id)
    assert digest() == before
    undo(*back["audit_ids"])
    assert digest() == after


def test_counters_only_grow(run, undo, shelf_library: Library) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="One").result["id"]
    change = run("shelf.change", id=book, title="Two")
    back = undo(change.audit_id)
    undo(*back["audit_ids"])
    outcome = run("shelf.clear", id=shelf)
    undo(outcome.audit_id)
    with shelf_library.db.read() as conn:
        row = conn.exec_driver_sql("SELECT title, version FROM shelf_book").one()
    assert tuple(row) == ("Two", 5)


def test_changed_names_the_later_step_and_leaves_everything(run, undo, digest) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="One")
    later = run("shelf.change", id=book.result["id"], title="Two")
    state = digest()
    with pytest.raises(Conflict) as refused:
        undo(book.audit_id)
    assert reason(refused) == "changed"
    assert refused.value.fields["later_audit_id"] == later.audit_id
    assert digest() == state


def test_changed_and_changed_back_can_be_undone(run, undo) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="One")
    first = run("shelf.change", id=book.result["id"], title="Two")
    run("shelf.change", id=book.result["id"], title="Three")
    run("shelf.change", id=book.result["id"], title="Two")
    undo(first.audit_id)


def test_a_step_between_two_of_a_set_is_not_overwritten(run, undo, digest) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="One").result["id"]
    first = run("shelf.change", id=book, title="Two")
    between = run("shelf.change", id=book, title="Three")
    last = run("shelf.change", id=book, title="Four")
    state = digest()
    with pytest.raises(Conflict) as refused:
        undo(first.audit_id, last.audit_id)
    assert (reason(refused), refused.value.fields["later_audit_id"]) == ("changed", between.audit_id)
    assert digest() == state
    undo(first.audit_id, between.audit_id, last.audit_id)


def test_undo_refuses_to_leave_a_later_row_pointing_at_nothing(run, undo) -> None:
    shelf = run("shelf.create", name="A")
    later = run("shelf.add", shelf_id=shelf.result["id"], title="One")
    with pytest.raises(Conflict) as refused:
        undo(shelf.audit_id)
    assert (reason(refused), refused.value.fields["later_audit_id"]) == ("changed", later.audit_id)


def test_a_set_is_undone_newest_first_and_redone_as_a_set(run, undo, digest) -> None:
    before = digest()
    shelf = run("shelf.create", name="A")
    book = run("shelf.add", shelf_id=shelf.result["id"], title="One", weight=0.1)
    run_ids = [shelf.audit_id, book.audit_id]
    after = digest()
    answer = undo(*run_ids)
    assert answer["undone"] == run_ids[::-1]
    assert digest() == before
    undo(*answer["audit_ids"])
    assert digest() == after


def test_already_undone_gone_and_not_undoable(run, undo) -> None:
    shelf = run("shelf.create", name="A")
    undo(shelf.audit_id)
    with pytest.raises(Conflict) as refused:
        undo(shelf.audit_id)
    assert reason(refused) == "already-undone"
    with pytest.raises(NotFound) as missing:
        undo("0" * 32)
    assert reason(missing) == "gone"
    with pytest.raises(Conflict) as refused:
        undo(run("shelf.burn", name="B").audit_id)
    assert reason(refused) == "not-undoable"
    with pytest.raises(Invalid, match="empty"):
        undo()
    with pytest.raises(Invalid, match="at most"):
        undo(*map(str, range(10_001)))


def test_a_step_is_in_effect_again_after_its_redo(run, undo, shelf_library: Library) -> None:
    shelf = run("shelf.create", name="A")
    first = undo(shelf.audit_id)["audit_ids"][0]
    redo = undo(first)["audit_ids"][0]
    second = undo(redo)["audit_ids"][0]
    with shelf_library.db.read() as conn:
        marks = {i: select_row(conn, i)["undone"] for i in (shelf.audit_id, first, redo, second)}
    assert marks == {shelf.audit_id: True, first: False, redo: True, second: False}
    undo(second)
    undo(shelf.audit_id)


def test_undo_rows_are_named_and_after_undo_runs(run, undo, shelf_library: Library) -> None:
    run("shelf.create", name="A")
    step = run("shelf.remark", name="B")
    back = undo(step.audit_id)["audit_ids"][0]
    forth = undo(back)["audit_ids"][0]
    with shelf_library.db.read() as conn:
        names = [select_row(conn, i)["action_name"] for i in (step.audit_id, back, forth)]
        words = conn.exec_driver_sql("SELECT text FROM shelf_remark ORDER BY rowid").scalars().all()
        assert verify_chain(conn) is None
    assert names == ["shelf.remark", "shelf.unremark", "shelf.remark"]
    assert words == ["remarked", "taken back", "redone"]


def test_a_row_replaced_inside_one_step_comes_back(run, undo, digest) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="One").result["id"]
    run("shelf.lend", book_id=book, reader="Inés", days=3)
    before = digest()
    second_outcome = run("shelf.lend", book_id=book, reader="Inés", days=9)
    after = digest()
    back = undo(second_outcome.audit_id)
    assert digest() == before
    undo(*back["audit_ids"])
    assert digest() == after


def test_only_who_may_run_an_action_may_take_it_back(run, undo) -> None:
    shelf = run("shelf.create", name="A")
    with pytest.raises(Forbidden):
        undo(shelf.audit_id, who=Principal("person", "guest", "viewer"))


def test_a_step_of_a_plugin_that_is_not_installed_is_refused_with_a_sentence(
    run, make_engine, shelf_engine: Engine, shelf_library: Library
) -> None:
    shelf = run("shelf.create", name="A")
    path = shelf_library.path
    shelf_engine.libraries.release(path)
    engine = make_engine(plugins=[])
    library = engine.libraries.get(path)
    with pytest.raises(ServiceError, match="not installed here") as refused:
        engine.undo(library, [shelf.audit_id], LOCAL_OWNER)
    assert refused.value.fields["reason"] == "not-undoable"


def test_a_step_that_rows_of_an_absent_plugin_hold_up_names_their_table(run, shelf_library: Library) -> None:
    held = run("shelf.create", name="A").result["id"]
    with shelf_library.db.write() as conn:
        for table in ("gone_note", "gone_empty"):
            conn.exec_driver_sql(
                f"CREATE TABLE {table} (shelf_id TEXT REFERENCES shelf (id) DEFERRABLE INITIALLY DEFERRED)"
            )
        conn.exec_driver_sql("INSERT INTO gone_note VALUES (?)", (held,))
    with pytest.raises(Conflict, match=r"not installed here \(gone_note\): install it") as refused:
        run("shelf.clear", id=held)
    assert refused.value.code == "still_referenced"


def test_the_log_is_filtered_and_paged(run, undo, shelf_library: Library) -> None:
    shelf = run("shelf.create", name="A")
    run("shelf.create", name="B")
    undo(shelf.audit_id)
    with shelf_library.db.read() as conn:
        rows, total = select_rows(conn, action="shelf.create", limit=1)
        assert (len(rows), total) == (1, 3)
        assert select_rows(conn, target_id=shelf.result["id"])[1] == 2
        assert [row["id"] for row in select_rows(conn, undone=True)[0]] == [shelf.audit_id]


def test_words_of_a_source_never_enter_the_log(run, shelf_library: Library) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    outcome = run("shelf.add", shelf_id=shelf, title="One", notes="canary words of a page")
    with shelf_library.db.read() as conn:
        row = select_row(conn, outcome.audit_id)
    assert row["params"]["notes"] == {"characters": 22}
    assert "canary" not in str(row)


def test_a_viewer_undoes_nothing_though_no_plugin_names_the_action(
    run, shelf_engine: Engine, shelf_library, undo
) -> None:
    shelf = run("shelf.create", name="A")
    shelf_engine.actions._actions.pop("shelf.create")
    with pytest.raises(Forbidden, match="needs editor"):
        undo(shelf.audit_id, who=Principal("person", "guest", "viewer"))
    undo(shelf.audit_id)


def test_a_checkpoint_that_gets_no_thread_fails_no_write(run, shelf_library: Library, monkeypatch) -> None:
    from armarium.store import database as db_module

    def none_left(self) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(db_module, "CHECKPOINT_PAGES", 0)
    monkeypatch.setattr(db_module.threading.Thread, "start", none_left)
    run("shelf.create", name="A")
    assert not shelf_library.db._checkpointing.locked()
