"""Records of entities, mentions and statements for an export: whole, of some pages, and without pages that are withheld."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from knowledge_desk import Desk, Page

from armarium_knowledge.queries.exported import RECORDS


def export_records(
    desk: Desk, name: str, ids: Collection[str] | None = None, withheld: Collection[str] = ()
) -> list[dict[str, Any]]:
    with desk.library.db.read() as conn:
        return list(RECORDS[name](conn, None if ids is None else frozenset(ids), withheld))


def entity(desk: Desk, name: str) -> str:
    return str(desk.do("entity.create", {"canonical_name": name, "entity_type": "person"})["id"])


def mention(desk: Desk, entity_id: str, page: Page, words: str) -> str:
    return str(
        desk.do("mention.create", {"entity_id": entity_id, "document_id": page.id, **page.at(words)})["id"]
    )


def claim(desk: Desk, text: str, subject: str, page: Page | None, words: str = "", **more: Any) -> str:
    given: dict[str, Any] = {"text": text, "subject_entity_id": subject, **more}
    if page is not None:
        at = page.at(words)
        given |= {
            "source_document_id": page.id,
            "source_char_start": at["char_start"],
            "source_char_end": at["char_end"],
        }
    return str(desk.do("claim.create", given)["id"])


def test_a_whole_project_is_exported_with_what_nothing_names(desk: Desk) -> None:
    page = desk.page()
    juan, nobody = entity(desk, "Juan Garcia"), entity(desk, "Nobody")
    named = mention(desk, juan, page, "Juan Garcia")
    said = claim(desk, "Juan sold the mill", juan, page, "sold the mill")
    assert {export_record["id"] for export_record in export_records(desk, "entity")} == {juan, nobody}
    (record,) = export_records(desk, "mention")
    assert (record["id"], record["char_start"], record["segment_id"]) == (named, 15, page.lines[0])
    (record,) = export_records(desk, "claim")
    assert (record["id"], record["source_document_ids"], record["segment_id"]) == (
        said,
        [page.id],
        page.lines[2],
    )
    assert record["source_excerpt"] == "sold the mill"


def test_what_only_withheld_pages_name_is_not_exported(desk: Desk) -> None:
    open_page, shut = desk.page(), desk.page(name="Shut")
    juan, ana, secret = entity(desk, "Juan Garcia"), entity(desk, "Ana Lopez"), entity(desk, "Secret")
    mention(desk, juan, open_page, "Juan Garcia")
    mention(desk, juan, shut, "Juan Garcia")
    mention(desk, ana, shut, "Ana Lopez")
    kept_claim = claim(desk, "Juan sold the mill", juan, open_page, "sold the mill")
    hidden = claim(desk, "Secret was his wife", secret, shut, "Ana Lopez")
    claim(desk, "So Secret lived", secret, None, source_ids=[hidden])
    both = desk.do("claim.create", {"text": "Both say so", "subject_entity_id": juan,
                                    "source_ids": [open_page.id, shut.id]})  # fmt: skip
    (record,) = export_records(desk, "entity", withheld=[shut.id])
    assert (record["id"], record["source_document_ids"]) == (juan, [open_page.id])
    assert {export_record["id"] for export_record in export_records(desk, "claim", withheld=[shut.id])} == {
        kept_claim
    }
    assert {
        export_record["document_id"] for export_record in export_records(desk, "mention", withheld=[shut.id])
    } == {open_page.id}
    assert both["id"] in {export_record["id"] for export_record in export_records(desk, "claim")}


def test_of_some_pages_goes_what_they_name_and_say(desk: Desk) -> None:
    one_page, other_page = desk.page(), desk.page(name="Other")
    juan, ana, nobody = entity(desk, "Juan Garcia"), entity(desk, "Ana Lopez"), entity(desk, "Nobody")
    mention(desk, juan, one_page, "Juan Garcia")
    mention(desk, ana, other_page, "Ana Lopez")
    claim(desk, "Juan sold the mill", juan, one_page, "sold the mill")
    claim(desk, "Ana was his wife", ana, other_page, "Ana Lopez")
    both = desk.do("claim.create", {"text": "Both say so", "subject_entity_id": ana,
                                    "source_ids": [other_page.id, one_page.id]})  # fmt: skip
    records_by_id = {
        export_record["id"]: export_record for export_record in export_records(desk, "claim", [one_page.id])
    }
    assert records_by_id[both["id"]]["source_document_id"] == one_page.id
    assert records_by_id[both["id"]]["source_ids"] == [one_page.id]
    assert len(records_by_id) == 2
    # Ana is named by a statement that goes along, though the page that names her stays.
    names = {
        export_record["id"]: export_record["source_document_ids"]
        for export_record in export_records(desk, "entity", [one_page.id])
    }
    assert names == {juan: [one_page.id], ana: []}
    assert nobody not in names


def test_merged_entities_and_what_rests_on_the_trash_stay(desk: Desk) -> None:
    page = desk.page()
    juan, double = entity(desk, "Juan Garcia"), entity(desk, "J. Garcia")
    claim(desk, "Juan sold the mill", juan, page, "sold the mill")
    desk.do("entity.merge", {"survivor_id": juan, "ids": [double]})
    assert [export_record["id"] for export_record in export_records(desk, "entity")] == [juan]
    desk.do("document.delete", {"ids": [page.id]})
    assert export_records(desk, "claim") == []
    assert export_records(desk, "mention") == []


def test_matches_and_reviews_go_along_unless_a_withheld_page_names_one_of_the_two(desk: Desk) -> None:
    page, shut = desk.page(), desk.page(name="Shut")
    juan, joan, ana = entity(desk, "Juan Garcia"), entity(desk, "Joan Garcia"), entity(desk, "Ana Lopez")
    for one in (juan, ana):
        mention(desk, one, page, "Juan Garcia" if one == juan else "Ana Lopez")
    mention(desk, ana, shut, "Ana Lopez")
    pairs = [
        {"survivor_id": juan, "candidate_id": other, "score": 0.9, "method": "name_variant"}
        for other in (joan, ana)
    ]
    matches = desk.do("entity.propose_matches", {"pairs": pairs})["match_ids"]
    about = {"source_entity_id": juan, "relation": "knows", "target_entity_id": ana, "score": 0.5}
    review = desk.do("prediction_review.create", about)["id"]
    assert {export_record["id"] for export_record in export_records(desk, "entity_match")} == set(matches)
    assert [export_record["id"] for export_record in export_records(desk, "prediction_review")] == [review]
    (record,) = export_records(desk, "entity_match", withheld=[shut.id])
    assert (record["survivor_entity_id"], record["candidate_entity_id"]) == (juan, joan)
    assert export_records(desk, "prediction_review", withheld=[shut.id]) == []
