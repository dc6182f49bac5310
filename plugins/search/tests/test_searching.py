"""Words are found on pages, in the line and on the picture where they stand, and nowhere else."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from search_desk import SearchDesk

from armarium.api import raw_of
from armarium_documents.api import FLAGS
from armarium_source_model.api import page_facts


def test_a_word_is_found_in_its_line_and_on_the_picture(desk: SearchDesk) -> None:
    page = desk.page("En la ciudad de", "México a diez")
    desk.page("Otra cosa")
    answer = desk.ask("mexico")
    assert [result["document_id"] for result in answer["results"]] == [page.id]
    (result,) = answer["results"]
    (line,) = result["transcript_excerpts"]
    assert line["segment_id"] == page.lines[1]
    assert line["text"] == "México a diez"
    assert line["ranges"] == [[0, 6]]
    assert line["rect"][0] == 0.1
    assert result["highlights"] == ["México"]
    assert (answer["total_results"], answer["total_is_exact"], answer["has_more"]) == (1, True, False)
    assert result["metadata"]["matched_via"] == "content"


def test_a_page_that_is_found_says_in_which_folders_it_lies(desk: SearchDesk) -> None:
    box = desk.folder("Box 7")
    desk.page("alpha", name="0001.jpg", parent=desk.folder("Bundle 2", box))
    desk.page("alpha", name="0001.jpg")
    results = desk.ask("alpha")["results"]
    assert sorted(result["metadata"]["folders"] for result in results) == [[], ["Box 7", "Bundle 2"]]


def test_a_corrected_line_is_found_at_once_and_no_longer_once_it_is_undone(desk: SearchDesk) -> None:
    page = desk.page("alpha beta", "gamma")
    desk.correct(page.lines[1], "delta")
    assert desk.ids("delta") == [page.id]
    assert desk.ids("gamma") == []
    desk.undo()
    assert desk.ids("delta") == []
    assert desk.ids("gamma") == [page.id]


def test_and_and_not_apply_to_the_page(desk: SearchDesk) -> None:
    both = desk.page("alpha", "beta")
    page = desk.page("alpha", "gamma")
    assert desk.ids("alpha beta") == [both.id]
    assert desk.ids("alpha AND beta") == [both.id]
    assert desk.ids("alpha NOT beta") == [page.id]
    assert desk.ids('alpha NOT "gamma"') == [both.id]


def test_a_phrase_goes_on_over_the_end_of_a_line(desk: SearchDesk) -> None:
    page = desk.page("in the city of", "Mexico on the tenth")
    desk.page("Mexico of city")
    assert desk.ids('"city of Mexico"') == [page.id]
    assert desk.ids('"Mexico city"') == []


def test_a_hyphenated_word_is_found_whole_and_by_its_halves(desk: SearchDesk) -> None:
    page = desk.page("der ehrbare Kauf-", "mann von Lübeck")
    for query in ("Kaufmann", "kauf", "mann", '"Kaufmann von"', "lubeck", "Kauf-mann"):
        assert desk.ids(query) == [page.id], query
    marked = desk.ask("Kaufmann")["results"][0]["highlights"]
    assert marked == ["Kauf", "mann"]


SCRIPTS = (
    ("北京大学出版社", "大学"),
    ("مُحَمَّدٌ رسول", "محمد"),
    ("علي رسول", "عَلِيّ"),
    ("שָׁלוֹם עליכם", "שלום"),
    ("हिन्दी भाषा", "हिन्दी"),
    ("auf der großen Straße", "STRASSE"),
    ("daſs er ſein", "sein"),
    ("ﬁnis coronat", "finis"),
    ("ประเทศไทย", "ไทย"),
    ("Ærø og Malmø", "aero"),
)


def test_scripts_and_old_letters(desk: SearchDesk) -> None:
    pages = [desk.page(text).id for text, _ in SCRIPTS]
    for page, (_, query) in zip(pages, SCRIPTS, strict=True):
        assert desk.ids(query) == [page], query


OLD_LETTERS = (
    ("caf\u0065\u0301 Ægir œil Straſze Gaſſe ﬁlum", ("café", "aegir", "oeil", "strasze", "gasse", "filum")),
    ("ΝΟΜΟΣ λόγος محمـــود أمين Ⅶ ｶﾒﾗ dñs", ("νόμος", "λογος", "محمود", "امين", "vii", "カメラ", "dns")),
)


def test_letters_are_found_in_whichever_form_of_them_is_typed(desk: SearchDesk) -> None:
    for text, queries in OLD_LETTERS:
        page = desk.page(text)
        for query in queries:
            assert desk.ids(query) == [page.id], query


HYPHENS = "⸗¬\u00ad=\u2010-⹀\u2011"


@pytest.mark.parametrize("sign", HYPHENS)
def test_a_word_divided_by_any_sign_of_hyphenation_is_found_whole(desk: SearchDesk, sign: str) -> None:
    page = desk.page(f"beim Apfel{sign}", "baum im Garten")
    assert desk.ids("Apfelbaum") == [page.id]
    divided = desk.page(f"an der Neu{sign}", "Gasse")
    assert desk.ids("Neugasse") == [divided.id]


def test_a_word_in_another_order_of_chinese_is_another_word(desk: SearchDesk) -> None:
    desk.page("北京大学")
    assert desk.ids("学大") == []


def test_the_beginning_of_words(desk: SearchDesk) -> None:
    page = desk.page("ciudadano")
    assert desk.ids("ciud*") == [page.id]
    assert desk.ids("ciud") == []


def test_names_are_found_and_lift_a_result(desk: SearchDesk) -> None:
    in_text = desk.page("the letter of the king", name="Leaf 3")
    called = desk.page("nothing", name="Letter")
    also = desk.page("nothing either", name="King's letter")
    answer = desk.ask("letter")
    assert [result["document_id"] for result in answer["results"]] == [called.id, also.id, in_text.id]
    assert [result["metadata"]["matched_via"] for result in answer["results"]] == ["name", "name", "content"]
    assert answer["results"][0]["score"] > 10 > answer["results"][1]["score"] > 5
    assert desk.ids("name:letter") == [called.id, also.id]
    assert set(desk.ids("letter NOT name:king")) == {in_text.id, called.id}


def test_authority_weighs(desk: SearchDesk) -> None:
    first = desk.page("alpha", source_authority="tertiary")
    second = desk.page("alpha", source_authority="primary")
    answer = desk.ask("alpha")["results"]
    assert [item["document_id"] for item in answer] == [second.id, first.id]
    assert desk.ids("alpha", filters={"source_authority": ["tertiary"]}) == [first.id]


def test_what_is_in_the_trash_is_not_found_until_it_is_restored(desk: SearchDesk) -> None:
    page = desk.page("alpha", name="Alpha")
    desk.do("document.delete", {"ids": [page.id]})
    answer = desk.ask("alpha")
    assert (answer["count"], answer["total_results"], answer["suggestions"]) == (0, 0, [])
    assert desk.ask("alph")["suggestions"] == []
    desk.do("document.restore", {"document_id": page.id})
    assert desk.ids("alpha") == [page.id]


def test_a_filter_by_language_follows_what_is_stated_above_the_page(desk: SearchDesk) -> None:
    """Page, its nearest folder that states one, project: as `resolve` and the exports say."""
    box = desk.folder("Box")
    desk.do("document.update", {"document_id": box, "language": "la"})
    inner = desk.folder("Inner", box)
    latin = desk.page("alpha", parent=inner)
    french = desk.page("alpha", parent=inner, language="fr-CA")
    loose = desk.page("alpha")

    def of(*tags: str) -> set[str]:
        return set(desk.ids("alpha", filters={"languages": list(tags)}))

    assert (of("la"), of("fr"), of("es"), of("la", "fr")) == (
        {latin.id},
        {french.id},
        set(),
        {latin.id, french.id},
    )
    desk.do("source_setting.set", {"level": "project", "key": "language", "value": "es"})
    assert (of("es"), of("la")) == ({loose.id}, {latin.id})
    with desk.library.db.read() as conn:
        for page, tag in ((latin, "la"), (french, "fr-CA"), (loose, "es")):
            row = page_facts(conn, page.id, page.pass_id).first("language")
            assert row is not None
            assert row.value == tag


def test_a_filter_with_an_unknown_word_is_refused(desk: SearchDesk) -> None:
    for name, word in (("doc_types", "leaf"), ("file_types", "jpeg"), ("source_authority", "best")):
        detail = desk.expect_refusal(400, filters={name: [word]})
        assert f"filters.{name}" in detail
        assert word in detail
        saved = {"query": "x", "filters": {name: [word]}}
        assert desk.client.post("/api/search/saved", json=saved).status_code == 400
    assert desk.ids("x", filters={"prototype_keys": ["letter"]}) == []


def test_an_empty_query_answers_folders_if_they_are_asked_for(desk: SearchDesk) -> None:
    folder, page = desk.folder("Box"), desk.page("alpha")
    assert desk.ids("") == [page.id]
    assert desk.ids("", filters={"doc_types": ["folder", "group"]})[0] == folder
    assert page.id not in desk.ids("", filters={"doc_types": ["folder", "group"]})


def test_filters(desk: SearchDesk) -> None:
    box = desk.folder("Box")
    inside = desk.page("alpha", parent=box, language="de-AT", date_iso="1832-05")
    outside = desk.page("alpha", date_iso="1840/1842")
    assert desk.ids("alpha", filters={"parent_id": box}) == [inside.id]
    assert desk.ids("alpha", filters={"languages": ["de"]}) == [inside.id]
    assert desk.ids("alpha", filters={"doc_types": ["file"]}) == []
    assert desk.ids("alpha", filters={"date_from": "1841"}) == [outside.id]
    assert desk.ids("alpha", filters={"date_to": "1832-05-09"}) == [inside.id]
    assert set(desk.ids("alpha", filters={"date_from": "-0050", "date_to": "1900"})) == {
        inside.id,
        outside.id,
    }
    backwards = {"date_from": "1841", "date_to": "1832"}
    assert "date_from (1841) is after date_to (1832)" in desk.expect_refusal(422, "alpha", filters=backwards)
    assert "1841/1832 ends before it begins" in desk.expect_refusal(422, "dates:1841/1832")
    assert "is not a date" in desk.expect_refusal(422, "alpha", filters={**backwards, "date_from": "1841-13"})
    made = {"created_from": "2027", "created_to": "2026"}
    assert "created_from (2027) is after created_to (2026)" in desk.expect_refusal(422, "alpha", filters=made)
    assert desk.ids("alpha", filters={"is_starred": True}) == []
    assert desk.ids("alpha", filters={"has_reading": False}) == []
    assert set(desk.ids("alpha", filters={"has_reading": True})) == {inside.id, outside.id}
    assert desk.ids("alpha", filters={"created_from": "2999"}) == []
    moment = desk.rows("SELECT created_at FROM document WHERE id = ?", outside.id)[0][0]
    elsewhere = f"{datetime.fromisoformat(moment).astimezone(timezone(timedelta(hours=5))):%FT%T}+05:00"
    for written in (moment, f"{moment[:19]}Z", moment[:19], moment[:10], moment[:4], elsewhere):
        for side in ("created_from", "created_to"):
            assert outside.id in desk.ids("alpha", filters={side: written}), (side, written)
    for no_time in ("2026-13-45", "2026-11-31", "2026-11-28T25:00:00Z", "yesterday", "2026-W48", "20261128"):
        assert "write it as 2026" in desk.expect_refusal(422, "alpha", filters={"created_to": no_time})
    assert desk.ids("dates:1832") == [inside.id]
    assert desk.ids("dates:183X alpha") == [inside.id]
    assert desk.ids("dates:1841/..") == [outside.id]
    answer = desk.ask("alpha", filters={"parent_id": box})
    assert answer["filters_applied"] == {"parent_id": box}


STORED = (
    "1853", "1850/..", "../1852", "1850/", "/1960", "185X", "18XX", "1853-24", "1853-06-11?", "-0044", "-0044-03-15", "1851/1853",
    "XXXX-03-12", "2001-21", "Y12000",
)  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        "1853",
        "1853/1854",
        "1853-12-31",
        "-0044",
        "-0045/-0043",
        "../-0044",
        "1950",
        "../1600",
        "19XX",
        "2001-04",
    ],
)
def test_search_and_dataset_find_the_same_dates(desk: SearchDesk, client: Any, asked: str) -> None:
    pages = {desk.page("alpha", date_iso=stored).id: stored for stored in STORED}
    found = {pages[identity] for identity in desk.ids(f"dates:{asked}", limit=100)}
    filters = [{"attr": "document.date_iso", "op": "eq", "type": "date", "value": asked}]
    query = {"filters": filters, "attributed_only": False, "recursive": True, "limit": 500}
    rows = client.post("/api/documents/dataset/query", json=query).json()["rows"]
    assert {pages[row["id"]] for row in rows if row["id"] in pages} == found
    expected = {
        "1853": {"1853", "1850/..", "1850/", "/1960", "185X", "18XX", "1853-24", "1853-06-11?", "1851/1853"},
        "1853/1854": {
            "1853",
            "1850/..",
            "1850/",
            "/1960",
            "185X",
            "18XX",
            "1853-24",
            "1853-06-11?",
            "1851/1853",
        },
        "1853-12-31": {"1853", "1850/..", "1850/", "/1960", "185X", "18XX", "1853-24", "1851/1853"},
        "-0044": {"../1852", "/1960", "-0044", "-0044-03-15"},
        "-0045/-0043": {"../1852", "/1960", "-0044", "-0044-03-15"},
        "../-0044": {"../1852", "/1960", "-0044", "-0044-03-15"},
        "1950": {"1850/..", "1850/", "/1960"},
        "../1600": {"../1852", "/1960", "-0044", "-0044-03-15"},
        "19XX": {"1850/..", "1850/", "/1960"},
        "2001-04": {"1850/..", "1850/", "2001-21"},
    }[asked]
    assert found == expected


@pytest.mark.parametrize(
    ("version", "date", "asked"), [(1, "-0044-03-15", "-0044"), (2, "1853-24", "1854-02")]
)
def test_days_that_an_older_engine_counted_otherwise_are_counted_anew_when_the_project_opens(
    desk: SearchDesk, version: int, date: str, asked: str
) -> None:
    page = desk.page("alpha", date_iso=date)
    place = desk.library.path
    with desk.library.db.write() as conn:
        raw = raw_of(conn)
        raw.execute("UPDATE search_name SET first_day = NULL, last_day = NULL, name = 'gone'")
        raw.execute("UPDATE schema_version SET version = ? WHERE family = 'search'", (version,))
    desk.engine.libraries.release(place)
    desk.library = desk.engine.libraries.get(place)
    assert desk.ids(f"dates:{asked}") == [page.id]
    assert desk.ids("alpha") == [page.id]


def test_a_page_whose_pass_was_deleted_has_no_reading(desk: SearchDesk) -> None:
    page = desk.page("alpha", name="Omega")
    assert desk.ids("name:omega", filters={"has_reading": True}) == [page.id]
    desk.do("segment.pass_delete", {"pass_id": page.pass_id})
    assert desk.ids("name:omega", filters={"has_reading": True}) == []
    assert desk.ids("name:omega", filters={"has_reading": False}) == [page.id]
    desk.undo()
    assert desk.ids("name:omega", filters={"has_reading": True}) == [page.id]


def test_tags_are_those_of_annotations_and_prototypes(desk: SearchDesk) -> None:
    page = desk.page("alpha")
    anchor = {
        "anchor_kind": "paragraph",
        "paragraph_index": 0,
        "kind": "note",
        "text": "n",
        "tags": ["Königin"],
    }
    desk.do("annotation.create", {"document_id": page.id, **anchor})
    assert desk.ids("tag:konigin") == [page.id]
    assert desk.ids("tag:konig") == []


def test_search_and_dataset_have_one_order_of_dates(desk: SearchDesk, client: Any) -> None:
    dates = ["-0044-03-15", "0900", "/1700", "1701", "175X", "1850/..", "Y12000", "XXXX-03-12"]
    pages = {desk.page("alpha", date_iso=stored).id: stored for stored in reversed(dates)}
    ids = desk.ids("alpha", limit=100, sort_by="date", sort_direction="asc")
    sort = {"attr": "document.date_iso", "type": "date"}
    query = {"sort": sort, "recursive": True, "limit": 500}
    rows = client.post("/api/documents/dataset/query", json=query).json()["rows"]
    assert [pages[item] for item in ids] == dates
    assert [pages[row["id"]] for row in rows if row["id"] in pages] == dates


def test_pages_of_answers_neither_repeat_nor_lose_a_hit(desk: SearchDesk) -> None:
    ids = {desk.page("alpha " * (number % 3 + 1)).id for number in range(7)}
    seen: list[str] = []
    while True:
        answer = desk.ask("alpha", limit=2, offset=len(seen))
        seen += [result["document_id"] for result in answer["results"]]
        if not answer["has_more"]:
            break
    assert len(seen) == len(set(seen)) == 7
    assert set(seen) == ids
    for key in ("name", "date", "size"):
        ordered = [
            desk.ids("alpha", limit=3, offset=at, sort_by=key, sort_direction="asc") for at in (0, 3, 6)
        ]
        assert sorted(one for some in ordered for one in some) == sorted(ids)


def test_beyond_what_is_weighed_no_hit_is_repeated_or_lost(
    desk: SearchDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_search.queries import candidates

    monkeypatch.setattr(candidates, "EXACT", 3)
    in_text = [desk.page("alpha").id for _ in range(7)]
    ids = [desk.page("beta", name="Alpha").id for _ in range(5)]
    seen: list[str] = []
    while True:
        answer = desk.ask("alpha", limit=2, offset=len(seen))
        seen += [result["document_id"] for result in answer["results"]]
        assert not answer["total_is_exact"]
        if not answer["has_more"]:
            break
    assert len(seen) == len(set(seen))
    assert set(seen) == {*in_text, *ids}
    by_name = desk.ids("alpha", sort_by="name", sort_direction="asc", limit=100)
    assert by_name[:5] == sorted(ids)


def test_beyond_what_a_filter_is_tried_on_no_hit_is_repeated_or_lost(
    desk: SearchDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_search.queries import candidates

    monkeypatch.setattr(candidates, "LOOKED_AT", 4)
    ids = [desk.page("alpha").id for _ in range(11)]
    starred = [identity for number, identity in enumerate(ids) if number % 2]
    for one in starred:
        desk.do("document.update", {"document_id": one, "is_starred": True})
    seen: list[str] = []
    while True:
        answer = desk.ask("alpha", limit=2, offset=len(seen), filters={"is_starred": True})
        seen += [result["document_id"] for result in answer["results"]]
        assert not answer["total_is_exact"]
        assert len(seen) <= answer["total_results"] <= len(starred)
        if not answer["has_more"]:
            break
    assert sorted(seen) == sorted(starred)
    assert len(set(seen)) == len(seen)
    by_name = desk.ids("alpha", sort_by="name", limit=100, filters={"is_starred": True})
    assert sorted(by_name) == sorted(starred)
    assert desk.ask("alpha", filters={"parent_id": starred[0]})["total_results"] == 1


def test_an_empty_query_answers_what_was_changed_last(desk: SearchDesk) -> None:
    first, second = desk.page("alpha"), desk.page("beta")
    desk.do("document.update", {"document_id": first.id, "is_starred": True})
    answer = desk.ask("  ")
    assert answer["search_type"] == "recent"
    assert [result["document_id"] for result in answer["results"]] == [first.id, second.id]
    assert answer["total_results"] == 2
    assert desk.ids("", sort_direction="asc") == [second.id, first.id]


def test_an_empty_query_is_sorted_as_asked(desk: SearchDesk) -> None:
    pages = {name: desk.page("alpha").id for name in ("Carta", "acta", "Bula")}
    for name, page in pages.items():
        desk.do("document.update", {"document_id": page, "name": name})
    assert desk.ids("", sort_by="name", sort_direction="asc") == [
        pages[one] for one in ("acta", "Bula", "Carta")
    ]
    assert desk.ids("", sort_by="name") == [pages[one] for one in ("Carta", "Bula", "acta")]
    assert desk.ids("", sort_by="name", limit=1, offset=1) == [pages["Bula"]]


def test_suggestions_write_the_last_word_out(desk: SearchDesk) -> None:
    desk.page("ciudad ciudadano")
    assert desk.ask("la ciud")["suggestions"] == ["la ciudad", "la ciudadano"]
    assert desk.ask("ciudat")["suggestions"] == ["ciudad"]


def test_artifacts_are_searched_when_asked_for(desk: SearchDesk) -> None:
    page = desk.page("alpha")
    desk.do(
        "artifact.create", {"document_id": page.id, "artifact_type": "keywords", "content": "omega and more"}
    )
    assert desk.ids("omega") == []
    answer = desk.ask("omega", include=["content", "artifacts"])
    assert [artifact_hit["artifact_type"] for artifact_hit in answer["artifact_hits"]] == ["keywords"]
    assert answer["results"][0]["metadata"]["matched_via"] == "artifact"
    assert answer["results"][0]["score"] == 0.5
    assert answer["results"][0]["content_preview"] == "omega and more"


def test_notes_are_found_by_their_text(desk: SearchDesk) -> None:
    note = desk.do("document.create", {"name": "N", "node_kind": "note", "page_content": "Querétaro"})["id"]
    answer = desk.ask("queretaro")
    assert [result["document_id"] for result in answer["results"]] == [note]
    assert answer["results"][0]["metadata"]["matched_via"] == "content"
    assert "Querétaro" in answer["results"][0]["content_preview"]


@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_of_documents_is_a_filter(client: Any, flag: str) -> None:
    ids = {
        value: client.post("/api/documents", json={"name": f"Wills {value}", flag: value}).json()["id"]
        for value in (True, False)
    }
    for value, document_id in ids.items():
        answer = client.post("/api/search", json={"query": "name:Wills", "filters": {flag: value}}).json()
        assert [result["document_id"] for result in answer["results"]] == [document_id]


def test_hits_show_the_text_of_a_past_step(desk: SearchDesk) -> None:
    page = desk.page("lorem ipsum", "dolor sit")
    step = desk.rows("SELECT id FROM audit ORDER BY seq DESC LIMIT 1")[0][0]
    desk.correct(page.lines[1], "lorem dolor")
    (result,) = desk.ask("lorem")["results"]
    (then,) = desk.ask("lorem", as_of=step)["results"]
    assert [line["text"] for line in result["transcript_excerpts"]] == ["lorem ipsum", "lorem dolor"]
    assert [line["text"] for line in then["transcript_excerpts"]] == ["lorem ipsum"]
    assert "sit" in desk.ask("dolor", as_of=step)["results"][0]["content_preview"]
    assert desk.expect_refusal(404, "lorem", as_of="0" * 32)
