"""The work of knowledge on pages: names known or found by a model, statements, dates, authorities, descriptions."""

from __future__ import annotations

import json
import os
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from knowledge_desk import Desk, Page

from armarium.api import Invalid, new_id
from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium_knowledge.authority_files import read_known
from armarium_knowledge.folding import fold
from armarium_knowledge.recipe_jobs import RECIPE_JOBS
from armarium_testing.model_provider import Answer, LoopbackProvider
from armarium_testing.recipe_jobs import exercise_recipe_job
from armarium_testing.samples import sample

MODEL = {"provider": "Loopback", "model": "tiny"}


@pytest.fixture
def provider(desk: Desk) -> Iterator[LoopbackProvider]:
    """A provider on this machine."""
    with LoopbackProvider() as running:
        running.add_to(desk.engine, "Loopback")
        yield running


def work(desk: Desk, job_id: str, *pages: Page, **settings: Any) -> dict[str, Any]:
    """Run a recipe job on pages; its state, reason and result."""
    job = desk.engine.recipe_jobs[job_id]
    parsed = job.parse(settings)
    desk.engine.paths.check(parsed, LOCAL_OWNER)
    place = job.find_placement(desk.engine, desk.library, parsed)
    with desk.library.db.write() as conn:
        arguments = job.arguments([page.id for page in pages], parsed)
        new = NewJob(job.kind, arguments, title=job.name, model=place.model, lane=place.lane)
        queued = enqueue(conn, new, started_by=LOCAL_OWNER)
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    ((state, reason, result),) = desk.rows("SELECT state, reason, result FROM job WHERE id = ?", queued)
    return {"state": state, "reason": reason, **(json.loads(result) if result else {})}


def answers(page: Page) -> dict[str, Any]:
    first, _, last = page.lines
    return {
        "find-names-tag-words": {
            "names": [
                {"line": first, "words": "Juan Garcia", "name": "Juan García", "kind": "person"},
                {"line": first, "words": "Toledo", "name": "Toledo", "kind": "location"},
                {"line": first, "words": "Nobody", "name": "Nobody", "kind": "person"},
            ]
        },
        "find-statements": {
            "statements": [
                {
                    "text": "They sold the mill",
                    "subject": "they",
                    "verb": "sold",
                    "object": "the mill",
                    "lines": [last],
                }
            ]
        },
        "describe-for-the-catalogue": {
            "title": "Sale of a mill",
            "date": None,
            "place": "Toledo",
            "persons": ["Juan Garcia"],
            "about": ["mills"],
            "summary": "A sale.",
        },
        "pull-out-passages": {"passages": [{"lines": [first], "shows": "How a deed begins"}]},
    }


def test_names_that_a_model_finds_become_mentions(desk: Desk, provider: LoopbackProvider) -> None:
    page = desk.page()
    provider.answers = [json.dumps(answers(page)["find-names-tag-words"])]
    done = work(desk, "find-names-tag-words", page, **MODEL)
    assert (done["state"], done["pages"]) == ("done", 1)
    items = desk.names_on(page)["items"]
    assert [(item["text"], item["canonical_name"]) for item in items] == [
        ("Juan Garcia", "Juan García"),
        ("Toledo", "Toledo"),
    ]
    ((episode,),) = desk.rows("SELECT id FROM episode")
    assert {item["episode_id"] for item in items} == {episode}
    assert {item["provenance_kind"] for item in items} == {"workflow"}
    work(desk, "find-names-tag-words", page, **MODEL)
    assert len(desk.names_on(page)["items"]) == 2
    assert desk.get("/api/entities")["total"] == 2


def test_statements_that_a_model_finds_rest_on_their_lines(desk: Desk, provider: LoopbackProvider) -> None:
    page, mill = desk.page(), desk.entity("The Mill", "location")
    provider.answers = [json.dumps(answers(page)["find-statements"])]
    for _ in range(2):
        assert work(desk, "find-statements", page, **MODEL)["state"] == "done"
    (item,) = desk.get("/api/claims")["items"]
    assert (item["curation_state"], item["provider"], item["object_entity_id"]) == (
        "unreviewed",
        "Loopback",
        mill,
    )
    assert [one["segment_id"] for one in item["evidence"]] == [page.lines[2]]


@pytest.mark.parametrize("job_id", ["describe-for-the-catalogue", "pull-out-passages"])
def test_what_is_made_of_a_page_is_in_doubt_once_it_is_corrected(
    desk: Desk, provider: LoopbackProvider, job_id: str
) -> None:
    page = desk.page()
    provider.answers = [json.dumps(answers(page)[job_id])]
    assert work(desk, job_id, page, **MODEL)["pages"] == 1
    assert desk.get("/api/staleness", document_id=page.id)["count"] == 0
    desk.correct(page.lines[0], "Otherwise")
    (item,) = desk.get("/api/staleness", document_id=page.id)["items"]
    assert (item["kind"], item["todo"]) == ("artifact", "redo")


def test_names_of_the_project_are_found_without_a_model(desk: Desk) -> None:
    juan = desk.entity("Juan Garcia", names=[{"text": "Iuan Garçia"}])
    ana = desk.entity("Ana López")
    desk.entity("Ana", "person")
    page = desk.page(["IUAN GARCIA and Susana Lopez", "and Ana Lopez, with Juan Garcla"])
    answer = desk.get(f"/api/documents/{page.id}/known-names")["items"]
    assert [(item["text"], item["entity_id"], item["score"] == 1) for item in answer] == [
        ("IUAN GARCIA", juan, True),
        ("Ana Lopez", ana, True),
        ("Juan Garcla", juan, False),
    ]
    exact = desk.get(f"/api/documents/{page.id}/known-names", misread=False)["items"]
    assert [one["text"] for one in exact] == ["IUAN GARCIA", "Ana Lopez"]
    assert desk.rows("SELECT count(*) FROM mention") == [(0,)]
    assert work(desk, "find-names-tag-words", page)["state"] == "done"
    items = desk.names_on(page)["items"]
    assert [item["text"] for item in items] == ["IUAN GARCIA", "Ana Lopez"]
    desk.client.delete(f"/api/mentions/{items[0]['id']}")
    remaining_items = desk.get(f"/api/documents/{page.id}/known-names", misread=False)["items"]
    assert remaining_items == []
    work(desk, "find-names-tag-words", page)
    assert [item["text"] for item in desk.names_on(page)["items"]] == ["Ana Lopez"]


SCRIPTS = (
    ("王安", "在王安家", "王安"),
    ("محمد", "قال مُحَمَّد بن", "مُحَمَّد"),
    ("דוד", "אמר דָּוִד המלך", "דָּוִד"),
    ("सीता", "राम और सीता वन", "सीता"),
    ("Strasse", "die Straße", "Straße"),
    ("Constans filius", "Conſtans ﬁlius", "Conſtans ﬁlius"),
    ("서울", "나는 서울 에", "서울"),
)


def test_names_are_found_in_every_script(desk: Desk) -> None:
    for name, _, _ in SCRIPTS:
        desk.entity(name)
    page = desk.page([line for _, line, _ in SCRIPTS])
    answer = desk.get(f"/api/documents/{page.id}/known-names", misread=False)["items"]
    assert [item["text"] for item in answer] == [words for _, _, words in SCRIPTS]


def test_a_name_is_found_whatever_its_apostrophes_hyphens_umlauts_and_order(desk: Desk) -> None:
    names = ("Nora O'Hare", "Saint-Denis", "Koehler", "Köppen", "Cruz, Juan de la", "Lund, Elsa.")
    called = {desk.entity(name): name for name in names}
    page = desk.page(
        [
            "Nora O’Hare of Saint‑Denis,",
            "Herr Köhler and Frau Koeppen;",
            "Juan de la Cruz, then Cruz, Juan de la.",
            "Elsa Lund. Saint, Denis",
        ]
    )
    answer = desk.get(f"/api/documents/{page.id}/known-names", misread=False)["items"]
    assert [(item["text"], called[item["entity_id"]], item["score"]) for item in answer] == [
        ("Nora O’Hare", "Nora O'Hare", 1),
        ("Saint‑Denis", "Saint-Denis", 1),
        ("Köhler", "Koehler", 1),
        ("Koeppen", "Köppen", 1),
        ("Juan de la Cruz", "Cruz, Juan de la", 1),
        ("Cruz, Juan de la", "Cruz, Juan de la", 1),
        ("Elsa Lund", "Lund, Elsa.", 1),
    ]


def test_dates_are_worked_out_of_mentions(desk: Desk) -> None:
    page = desk.page(["given on the 3 March 1742", "at Toledo"])
    day, town = desk.entity("3 March 1742", "event"), desk.entity("Toledo", "location")
    desk.mention(page, day, "3 March 1742")
    desk.mention(page, town, "Toledo")
    assert work(desk, "work-out-dates", page, language="en")["pages"] == 1
    (date,) = desk.get(f"/api/entities/{day}")["date_values"]
    assert (date["iso_start"], date["precision"]) == ("1742-03-03", "day")
    assert desk.get(f"/api/entities/{town}")["date_values"] == []
    assert work(desk, "work-out-dates", page)["state"] == "done"
    assert len(desk.get(f"/api/entities/{day}")["date_values"]) == 1


SKOS = """<?xml version="1.0"?>
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://www.w3.org/2004/02/skos/core#">
<s:Concept r:about="http://x.org/1"><s:prefLabel>Juan Garcia</s:prefLabel><s:broader r:resource="http://x.org/2"/></s:Concept>
<s:Concept r:about="http://x.org/2"><s:prefLabel>Men</s:prefLabel><s:broader r:resource="http://x.org/1"/></s:Concept>
</r:RDF>"""
WIKIDATA = "\n".join(
    [
        "[",
        '{"id": "Q1", "labels": {"en": {"language": "en", "value": "Juan Garcia"}}, "@context": "http://evil.org/c"},',
        '{"id": "Q2", "labels": {"en": {"value": "Someone"}}, "aliases": {"en": [{"value": "Juan  García"}]}}',
        "]",
    ]
)


FILES = (
    ("a.csv", "uri;label;aliases\nhttp://a.org/7;Garcia, Juan;Juan García|J. G.\n", "http://a.org/7"),
    ("a.rdf", SKOS, "http://x.org/1"),
    ("a.json", WIKIDATA, "http://www.wikidata.org/entity/Q1"),
    ("marked.json", "\ufeff" + WIKIDATA.replace("Q1", "Q9"), "http://www.wikidata.org/entity/Q9"),
    ("twice.csv", "uri,name\nhttp://a.org/1,Juan Garcia\nhttp://a.org/2,Juan Garcia\n", None),
    ("heading.csv", "\ufeffURI;Name\nhttp://b.org/1;García, Juan.\n", "http://b.org/1"),
    ("life.csv", "uri;name\nhttp://b.org/2;García, Juan, 1701-1742\n", "http://b.org/2"),
)


def test_entities_are_linked_to_the_users_own_files(desk: Desk, tmp_path: Path) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia")
    expected: list[str] = []
    for name, text, uri in FILES:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        for _ in range(2):
            assert work(desk, "link-to-authorities", page, file=str(file))["state"] == "done"
        expected += [uri] if uri else []
        links = desk.get(f"/api/entities/{juan}")["authority_links"]
        assert [link["uri"] for link in links] == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("separator", sample([";", ",", "\t"], 1))
def test_an_authority_list_is_read_in_the_encoding_that_a_spreadsheet_chose(
    desk: Desk, tmp_path: Path, encoding: str, separator: str
) -> None:
    names = ("Elsa Lund", "Tarma", "José Ñuflo")
    page = desk.page([f"{name}." for name in names])
    for name in names:
        desk.mention(page, desk.entity(name), name)
    rows = [("uri", "name"), *((f"https://example.org/{number}", name) for number, name in enumerate(names))]
    text = "\r\n".join((f"sep={separator}", *(separator.join(row) for row in rows), ""))
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    done = work(desk, "link-to-authorities", page, file=str(tmp_path / "a.csv"))
    assert (done["state"], done["counts"]) == ("done", {"authority_links": 3})


NO_FILES = (
    ("fetches.rdf", b'<!DOCTYPE x [<!ENTITY e SYSTEM "http://evil.org/x">]><x>&e;</x>'),
    ("no.rdf", b"<x/>"),
    ("no.csv", b"name\nJuan\n"),
    ("no.json", b'{"id": '),
    ("wide.csv", b'uri,name\nhttp://a/1,"' + b"x" * 1_100_000 + b'"\n'),
    ("polish.csv", "uri,name\nhttp://a/1,Łódź\n".encode("cp1250")),
)


ROWS = int(os.environ.get("ARMARIUM_AUTHORITY_ROWS", "60000"))
"""How many rows an authority file has; 10,000,000 is the full figure."""


def test_a_file_of_very_many_rows_is_read_row_by_row(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    with file.open("w") as out:
        out.write("uri,name\n")
        for number in range(ROWS):
            out.write(f"http://a.org/{number},Nobody {number}\n")
        out.write("http://a.org/juan,Juan García\n")
    tracemalloc.start()
    try:
        found = read_known(desk.library, file, {fold("Juan Garcia")})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    named = found.find_named("Juan Garcia")
    assert named is not None
    assert named[0].uri == "http://a.org/juan"
    # The file has 2 MB: nothing of it is held but the rows that name what was asked for.
    assert peak < 1_000_000


def test_a_file_that_is_none_is_refused_in_words(desk: Desk, tmp_path: Path) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia")
    for name, data in NO_FILES:
        file = tmp_path / name
        file.write_bytes(data)
        done = work(desk, "link-to-authorities", page, file=str(file))
        assert done["state"] == "failed"
        assert name in done["reason"]
    assert desk.get(f"/api/entities/{juan}")["authority_links"] == []


def test_work_that_cannot_be_done_is_refused_before_it_is_queued(desk: Desk) -> None:
    page = desk.page()
    for job_id, code in (("find-statements", "provider_needed"), ("link-to-authorities", "file_needed")):
        with pytest.raises(Invalid) as refused:
            work(desk, job_id, page)
        assert refused.value.code == code


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Juan de la Cruz", "Cruz, Juan de la"),
        ("José María Pérez", "Pérez, José María"),
        ("O'Hare", "O’Hare"),
        ("Köhler", "Koehler"),
        ("Elsa Lund", "Lund, Elsa."),
        ("Lund, Elsa (1850-1910)", "Elsa Lund"),
    ],
)
def test_two_spellings_of_one_name_are_proposed_as_the_same(desk: Desk, one: str, other: str) -> None:
    made = {desk.entity(one), desk.entity(other)}
    desk.do("entity.find_matches", {})
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    (match,) = desk.get("/api/entity-matches", state="pending")["items"]
    assert {match["survivor_entity_id"], match["candidate_entity_id"]} == made
    assert match["score"] == 1


def test_entities_that_may_be_one_are_proposed_and_never_merged(desk: Desk) -> None:
    entity, second_entity = (
        desk.entity("Johann Schmidt", language="de"),
        desk.entity("Johan Schmitt", language="de"),
    )
    desk.entity("Pedro Ximenez")
    third_entity, four = (
        desk.entity("Juan Ximenez", language="es"),
        desk.entity("Juan Jimenez", language="es"),
    )
    desk.entity("Johann Schmidt", "location")
    desk.do("entity.find_matches", {})
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    pairs = {
        frozenset((match["survivor_entity_id"], match["candidate_entity_id"]))
        for match in desk.get("/api/entity-matches", state="pending")["items"]
    }
    assert pairs == {frozenset((entity, second_entity)), frozenset((third_entity, four))}
    assert desk.get("/api/entities")["total"] == 6
    desk.do("entity.find_matches", {"entity_ids": [entity]})
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    assert desk.get("/api/entity-matches")["total"] == 2
    desk.expect_refusal(
        "POST",
        "/api/actions/invoke",
        404,
        "entity_not_found",
        name="entity.find_matches",
        params={"entity_ids": [new_id()]},
    )


def test_entities_are_proposed_by_their_vectors_too(desk: Desk) -> None:
    names = ("Convento de San Francisco de México", "San Francisco de México, convento")
    one, two = (desk.entity(name, "organization") for name in names)
    desk.entity("Hacienda de azúcar del valle", "organization")
    desk.entity(names[1], "location")

    def look() -> list[dict[str, Any]]:
        # No two names are as similar as this.
        desk.do("entity.find_matches", {"min_score": 0.99})
        assert desk.engine.jobs.run_until_idle(desk.library, 60)
        items: list[dict[str, Any]] = desk.get("/api/entity-matches", state="pending")["items"]
        return items

    assert look() == []
    for text in (*names, "las minas de plata de Zacatecas", "cartas del rey sobre la flota de Indias"):
        desk.page([text, f"y otra vez {text}"])
    desk.do("search.embed", {})
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    (found,) = look()
    assert {found["survivor_entity_id"], found["candidate_entity_id"]} == {one, two}
    assert found["method"] == "embedding_cosine"
    assert 0.75 <= found["score"] <= 1
    assert desk.get("/api/entities")["total"] == 4
    assert look() == [found]


def test_looking_for_matches_ends_with_its_undo(desk: Desk) -> None:
    started = desk.client.post(
        "/api/actions/invoke", json={"name": "entity.find_matches", "params": {}}
    ).json()
    desk.undo(started["audit_id"])
    job = desk.get(f"/api/activity/jobs/{started['result']['job_id']}")
    assert job["state"] == "cancelled"


def test_a_models_verdicts_on_statements_and_entities(desk: Desk, provider: LoopbackProvider) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia")
    span = page.at("sold the mill")
    claim = desk.claim(
        source_document_id=page.id, source_char_start=span["char_start"], source_char_end=span["char_end"]
    )["id"]
    for layer, target in (("claims", claim), ("entities", juan)):
        provider.answers = [json.dumps({"verdict": "reject", "reasons": "No"})]
        body = {"layer": layer, "scope_ids": [page.id], "checker": MODEL}
        answer = desk.client.post("/api/check/runs", json=body)
        assert answer.status_code == 200, answer.text
        assert desk.engine.jobs.run_until_idle(desk.library, 60)
        (verdict,) = desk.get("/api/check/verdicts", layer=layer)["items"]
        assert (verdict["target_id"], verdict["verdict"], verdict["trust"]) == (target, "reject", "model")
        assert verdict["episode_id"]
    assert desk.get(f"/api/claims/{claim}")["curation_state"] == "shortlisted"
    assert desk.get(f"/api/entities/{juan}")["curation_state"] == "unreviewed"
    (line,) = desk.get(f"/api/segments/{page.lines[2]}/statements")["statements"]
    assert line["verdict"] == "reject"
    confirm = {"layer": "claims", "target_id": claim, "verdict": "confirm", "reasons": "I saw it"}
    desk.do("check.verdict", confirm)
    (line,) = desk.get(f"/api/segments/{page.lines[2]}/statements")["statements"]
    assert line["verdict"] == "confirm"
    unknown = {"layer": "entities", "target_id": "none", "verdict": "confirm", "reasons": "x"}
    desk.expect_refusal(
        "POST", "/api/actions/invoke", 404, "unknown_target", name="check.verdict", params=unknown
    )


WITHOUT_MODEL = ("find-names-tag-words", "work-out-dates", "link-to-authorities")


@pytest.mark.parametrize("job_id", [job.id for job in RECIPE_JOBS])
def test_recipe_jobs_conform(desk: Desk, provider: LoopbackProvider, tmp_path: Path, job_id: str) -> None:
    (tmp_path / "kit").mkdir()
    if job_id in WITHOUT_MODEL:
        assert exercise_recipe_job(desk.engine, job_id, tmp_path / "kit") == []
        return

    class Answering(list[Any]):
        """Names the lines that it was shown."""

        def __getitem__(self, key: Any) -> Any:
            json_text = json.dumps(provider.asked[-1]["body"]["messages"])
            ids = re.findall(r"\\n\[([0-9a-f]{32})\]|\"\[([0-9a-f]{32})\]", json_text)
            lines = [one or other for one, other in ids]
            return Answer(json.dumps(answers(Page("", "", (lines * 3)[:3], []))[job_id]))

    provider.answers = Answering([""])
    settings = {"provider": "Loopback"}
    assert exercise_recipe_job(desk.engine, job_id, tmp_path / "kit", settings=settings) == []
