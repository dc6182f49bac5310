"""The index says what counts, whoever changed it and however: the doctor finds what does not agree, and makes it anew."""

from __future__ import annotations

from search_desk import SearchDesk

from armarium.api import raw_of
from armarium.projects.doctor import examine


def examine_index(desk: SearchDesk, *, rebuild: bool = False) -> list[str]:
    found = examine(desk.engine, desk.library.path, files=False, rebuild=rebuild)
    return [finding["what"] for finding in found["findings"]]


def test_the_doctor_verifies_and_rebuilds(desk: SearchDesk) -> None:
    page = desk.page("alpha beta", name="Gamma")
    assert examine_index(desk) == []
    with desk.library.db.write() as conn:
        raw_of(conn).execute("UPDATE source_model_page_text SET words = 'delta', text = 'delta'")
        raw_of(conn).execute("UPDATE search_name SET name = 'delta'")
        raw_of(conn).execute("INSERT INTO search_text (rowid, words, halves) VALUES (99, 'ghost', '')")
    found = " ".join(examine_index(desk))
    for words in (
        "stored text of 1 pages",
        "search entries of 2 documents",
        "index search_text does not agree",
    ):
        assert words in found
    assert desk.ids("alpha") == []
    assert examine_index(desk, rebuild=True) == []
    assert desk.ids("alpha") == [page.id]
    assert desk.ids("gamma") == [page.id]


def test_another_rule_for_what_counts_is_followed_by_a_job_that_says_it_is_behind(desk: SearchDesk) -> None:
    desk.page("alpha")
    desk.do("library.set", {"reading_rule": "relaxed"})
    assert desk.ask("alpha")["pages_behind"] == 1
    desk.run_jobs()
    assert desk.ask("alpha")["pages_behind"] == 0
    assert examine_index(desk) == []


def test_many_pages_at_once_are_left_to_a_job(desk: SearchDesk, monkeypatch: object) -> None:
    from armarium_source_model import keeping

    box = desk.folder("Box")
    for number in range(3):
        desk.page("alpha", "beta", parent=box, name=str(number))
    original, keeping.MOST_AT_ONCE = keeping.MOST_AT_ONCE, 1
    try:
        desk.do("document.update", {"document_id": box, "direction": "rtl"})
    finally:
        keeping.MOST_AT_ONCE = original
    assert desk.ask("alpha")["pages_behind"] == 2
    desk.run_jobs()
    assert desk.ask("alpha")["pages_behind"] == 0
    assert examine_index(desk) == []


def test_a_project_without_texts_and_names_gets_them_when_it_is_opened(desk: SearchDesk) -> None:
    from armarium_search import entries
    from armarium_source_model import keeping

    page = desk.page("alpha", name="Gamma")
    desk.do("artifact.create", {"document_id": page.id, "artifact_type": "keywords", "content": "omega"})
    with desk.library.db.write() as conn:
        for table in ("source_model_page_text", "search_name", "search_artifact"):
            raw_of(conn).execute(f"DELETE FROM {table}")
    assert desk.ids("alpha") == desk.ids("gamma") == []
    keeping.begin(desk.engine, desk.library)
    entries.begin(desk.engine, desk.library)
    desk.run_jobs()
    assert desk.ids("alpha") == desk.ids("gamma") == [page.id]
    assert desk.ask("omega", include=["artifacts"])["artifact_hits"][0]["document_id"] == page.id
    assert examine_index(desk) == []


def test_another_pass_another_order_and_joined_lines_are_followed(desk: SearchDesk) -> None:
    page = desk.page("alpha", "beta gamma")
    assert desk.ids('"alpha beta"') == [page.id]
    desk.do(
        "segment.update",
        {"segment_id": page.lines[0], "expected_version": 1, "anchor": {"rect": [0.1, 0.95, 0.8, 0.04]}},
    )
    assert desk.ids('"gamma alpha"') == [page.id]
    desk.do("segment.pass_create", {"document_id": page.id, "name": "Second"})
    assert desk.ids("alpha") == []
    desk.do("segment.pass_choose", {"pass_id": page.pass_id})
    assert desk.ids("alpha") == [page.id]
    desk.undo()
    assert desk.ids("alpha") == []
    desk.do("segment.pass_choose", {"pass_id": page.pass_id})
    desk.do("segment.update", {"segment_id": page.lines[0], "expected_version": 2, "is_furniture": True})
    assert desk.ids("alpha") == []
    assert examine_index(desk) == []


def test_empty_trash_leaves_nothing_behind(desk: SearchDesk) -> None:
    page = desk.page("alpha", name="Gamma")
    desk.do("artifact.create", {"document_id": page.id, "artifact_type": "keywords", "content": "omega"})
    desk.do("document.delete", {"ids": [page.id]})
    desk.client.post("/api/documents/trash/empty")
    for table in ("source_model_page_text", "search_artifact"):
        assert desk.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert examine_index(desk) == []


def test_corrections_of_one_line_leave_what_counts_on_the_whole_page(desk: SearchDesk) -> None:
    page = desk.page("alpha beta", "alpha beta", "con-", "vento viejo", "gamma delta", "epsilon")
    steps = {
        0: "alpha omega",  # its words stood twice
        2: "con",  # a word went on in the next line
        3: "vento nuevo",
        4: "gamma del-",  # a word goes on now
        5: "ta \u200f zeta",
        1: "Straße",
    }
    for line, text in steps.items():
        desk.correct(page.lines[line], text)
        assert examine_index(desk) == [], text
    assert desk.ids("delta") == desk.ids('"nuevo gamma"') == desk.ids("strasse") == [page.id]
    assert desk.ids("convento") == desk.ids("viejo") == []
    desk.undo()
    assert desk.ids("strasse") == []
    assert desk.ids('"alpha beta"') == [page.id]
    assert examine_index(desk) == []
