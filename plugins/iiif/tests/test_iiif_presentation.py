"""Pages and folders as IIIF: lines, canvas, manifest, and the project that a URL belongs to."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import Any

import pytest
from iiif_helpers import OWNER, PAGE, add_lines, add_page, sources
from starlette.testclient import TestClient

from armarium.api import Engine, Library
from armarium_iiif.errors import TooManyCanvases, UnknownHere
from armarium_iiif.places import Places
from armarium_iiif.projects import project_with
from armarium_iiif.queries import lines, presentation
from armarium_iiif.texts import plain_value
from armarium_testing.fixtures import http_client

BASE = "http://127.0.0.1:8765"


def run_action(engine: Engine, library: Library, action: str, /, **params: Any) -> dict[str, Any]:
    result = engine.run(library, action, params, OWNER).result
    assert result is not None
    return result


@pytest.fixture
def page(engine: Engine, library: Library) -> str:
    return add_page(engine, library)


def lines_of(client: TestClient, page: str) -> dict[str, Any]:
    answer = client.get(f"/api/iiif/iiif/lines/{page}")
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_lines_are_an_annotation_page_on_the_canvas(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    run_action(engine, library, "document.update", document_id=page, language="en")
    add_lines(engine, library, page)
    found_lines = lines_of(client, page)
    assert (found_lines["type"], found_lines["id"]) == (
        "AnnotationPage",
        f"{BASE}/api/iiif/iiif/lines/{page}",
    )
    assert found_lines["@context"] == [
        "http://www.w3.org/ns/anno.jsonld",
        "http://iiif.io/api/extension/text-granularity/context.json",
        "http://iiif.io/api/presentation/3/context.json",
    ]
    first, second = found_lines["items"]
    assert (first["motivation"], first["textGranularity"]) == ("supplementing", "line")
    assert first["target"] == f"{BASE}/api/iiif/canvas/{page}#xywh=40,40,320,20"
    assert second["target"].endswith("#xywh=40,80,260,21")
    assert (first["body"]["type"], first["body"]["value"], first["body"]["language"]) == (
        "TextualBody",
        "Dear Sir",
        "en",
    )
    assert first["creator"] == first["body"]["creator"] == {"type": "Software", "name": "pagexml"}
    # A line without a reading is served with its place, without text and creator.
    assert second["body"]["value"] == ""
    assert "creator" not in second


def test_the_language_is_that_of_the_nearest_who_states_it(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    add_lines(engine, library, page)

    def language() -> str | None:
        body: dict[str, str] = lines_of(client, page)["items"][0]["body"]
        return body.get("language")

    assert language() is None
    client.put(
        "/api/source-settings", json={"level": "project", "key": "language", "value": "la"}
    ).raise_for_status()
    assert language() == "la"
    run_action(engine, library, "document.update", document_id=sources(library), language="fr")
    assert language() == "fr"
    run_action(engine, library, "document.update", document_id=page, language="es")
    assert language() == "es"


def test_the_reading_that_counts_is_the_one_given(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    add_lines(engine, library, page)
    line = lines_of(client, page)["items"][0]["id"].rpartition("#")[2]
    client.post(f"/api/segments/{line}/correct", json={"text": "Dear Sirs"}).raise_for_status()
    first = lines_of(client, page)["items"][0]
    assert first["body"]["value"] == "Dear Sirs"
    assert first["creator"]["type"] == "Person"


def test_lines_name_the_canvas_of_the_manifest_they_came_from(
    engine: Engine, library: Library, client: TestClient
) -> None:
    canvas = "https://example.org/letters/1"
    page = add_page(
        engine,
        library,
        metadata={"iiif_canvas_id": canvas, "width": 4000, "height": 3000, "source_type": "iiif"},
    )
    add_lines(engine, library, page)
    assert lines_of(client, page)["items"][0]["target"] == f"{canvas}#xywh=400,400,3200,200"
    assert client.get(f"/api/iiif/canvas/{page}").json()["id"] == canvas


def test_a_page_without_a_pass_has_no_lines(client: TestClient, page: str) -> None:
    assert lines_of(client, page)["items"] == []


def test_a_page_without_a_picture_counts_in_the_pixels_of_its_file(
    engine: Engine, library: Library, client: TestClient, page_document: str
) -> None:
    add_lines(engine, library, page_document)
    assert lines_of(client, page_document)["items"][0]["target"].endswith("#xywh=40,40,320,20")
    answer = client.get(f"/api/iiif/canvas/{page_document}").json()
    assert (answer["width"], answer["height"], answer["items"][0]["items"]) == (400, 300, [])


def test_lines_without_any_size_are_refused(
    engine: Engine, library: Library, client: TestClient, page_document: str
) -> None:
    made_pass = run_action(engine, library, "segment.pass_create", document_id=page_document, name="By hand")
    anchor = {"rect": [0.1, 0.1, 0.5, 0.05]}
    run_action(
        engine,
        library,
        "segment.create",
        document_id=page_document,
        pass_id=made_pass["id"],
        kind="line",
        anchor=anchor,
    )
    answer = client.get(f"/api/iiif/iiif/lines/{page_document}")
    assert (answer.status_code, answer.json()["code"]) == (422, "no_page_size")


@pytest.mark.parametrize(
    ("others", "target"),
    [
        ({}, None),
        ({"other": (0.5, 0, 0, 1, 0, 0)}, "20,40,160,20"),
        ({"other": (0, 1, -1, 0, 1, 0)}, "320,30,27,240"),
    ],
)
def test_lines_measured_on_another_picture_are_placed_or_left_out(
    others: dict[str, tuple[float, ...]], target: str | None
) -> None:
    frames = lines._Frames((400, 300), "primary", others)
    box = frames.box("other", (0.1, 40 / 300, 0.8, 20 / 300))
    assert box is None if target is None else box == tuple(map(int, target.split(",")))
    assert frames.box("primary", (0.1, 40 / 300, 0.8, 20 / 300)) == (40, 40, 320, 20)


def test_lines_left_out_are_counted(
    engine: Engine, library: Library, client: TestClient, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_lines(engine, library, page)
    monkeypatch.setattr(lines, "frames_of", lambda conn, page: lines._Frames((400, 300), "a newer one", {}))
    found_lines = lines_of(client, page)
    assert found_lines["items"] == []
    assert found_lines["summary"]["en"][0].startswith("2 lines are left out")


def test_a_manifest_shows_every_page_in_order(engine: Engine, library: Library, client: TestClient) -> None:
    folder = run_action(
        engine,
        library,
        "document.create",
        name="Letters",
        date_iso="1742-01-31",
        direction="rtl",
        attributes={"box": 4, "copied": True, "nothing": None, "hands": ["A", "B"]},
    )["id"]
    inner = run_action(engine, library, "document.create", name="January", parent_id=folder)["id"]
    deeper = run_action(engine, library, "document.create", name="Week 1", parent_id=inner)["id"]
    pages = [
        add_page(engine, library, place, name=f"{n}.png") for n, place in enumerate((inner, deeper, deeper))
    ]
    loose = add_page(engine, library, folder, name="cover.png")
    add_lines(engine, library, pages[1])
    answer = client.get(f"/api/iiif/manifest/{folder}").json()
    assert (answer["type"], answer["label"], answer["viewingDirection"], answer["navDate"]) == (
        "Manifest",
        {"none": ["Letters"]},
        "right-to-left",
        "1742-01-31T00:00:00Z",
    )
    pairs = [(pair["label"]["none"][0], pair["value"]["none"][0]) for pair in answer["metadata"]]
    assert pairs == [("Date", "1742-01-31"), ("box", "4"), ("copied", "yes"), ("hands", "A"), ("hands", "B")]
    ids = [canvas["id"].rpartition("/")[2] for canvas in answer["items"]]
    assert set(ids) == {*pages, loose}
    assert [("annotations" in canvas) for canvas in answer["items"]].count(True) == 1
    (january,) = answer["structures"]
    assert january["label"] == {"none": ["January"]}
    kinds = {item["type"] for item in january["items"]}
    assert kinds == {"Canvas", "Range"}
    week = next(item for item in january["items"] if item["type"] == "Range")
    assert [item["id"].rpartition("/")[2] for item in week["items"]] == pages[1:]
    body = answer["items"][0]["items"][0]["items"][0]["body"]
    assert (body["width"], body["height"], body["service"][0]["profile"]) == (400, 300, "level2")
    picture = client.get(body["id"])
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/jpeg")
    assert client.get(answer["thumbnail"][0]["id"]).status_code == 200


def test_a_page_alone_is_a_manifest_of_one_canvas(client: TestClient, page: str) -> None:
    answer = client.get(f"/api/iiif/manifest/{page}").json()
    assert len(answer["items"]) == 1
    assert "structures" not in answer
    canvas = client.get(f"/api/iiif/canvas/{page}").json()
    assert {**answer["items"][0], "@context": canvas["@context"]} == canvas


@pytest.mark.parametrize("asked", ["manifest", "canvas"])
def test_what_cannot_be_shown_is_refused_in_words(
    engine: Engine, library: Library, client: TestClient, page_document: str, asked: str
) -> None:
    folder = run_action(engine, library, "document.create", name="Empty")["id"]
    for identity, word in ((folder, "Empty"), (page_document, "0001.jpg"), ("nothing", "nothing")):
        answer = client.get(f"/api/iiif/{asked}/{identity}")
        assert answer.status_code == 404
        assert word in answer.json()["detail"]


def test_more_pages_than_fit_into_a_manifest(
    library: Library, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presentation, "MAX_CANVASES", 0)
    with pytest.raises(TooManyCanvases, match="at most"):
        presentation.manifest(library, Places(BASE), page)


def test_a_manifest_takes_as_many_statements_for_any_number_of_pages(
    engine: Engine, library: Library
) -> None:
    folder = run_action(engine, library, "document.create", name="Many")["id"]

    def statements() -> int:
        counted: list[str] = []
        with library.db.read() as conn:
            raw = conn.connection.driver_connection
            assert raw is not None
            raw.set_trace_callback(counted.append)
        try:
            presentation.manifest(library, Places(BASE), folder)
        finally:
            raw.set_trace_callback(None)
        return len(counted)

    add_page(engine, library, folder)
    first_statements = statements()
    for number in range(30):
        add_page(engine, library, folder, name=f"{number}.png")
    assert statements() == first_statements > 0


def test_json_or_json_ld_as_the_client_asks(client: TestClient, page: str) -> None:
    plain = client.get(f"/api/iiif/canvas/{page}")
    assert plain.headers["content-type"] == "application/json"
    linked = client.get(f"/api/iiif/canvas/{page}", headers={"Accept": "application/ld+json"})
    assert linked.headers["content-type"].startswith("application/ld+json;profile=")
    assert linked.json() == plain.json()


def test_values_are_escaped_as_html() -> None:
    assert plain_value("f. 1 <recto>") == "f. 1 <recto>"
    assert plain_value("<b>x</b>") == "<span>&lt;b&gt;x&lt;/b&gt;</span>"


def test_a_url_finds_its_project_without_naming_it(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    del client.headers["X-Service-Library-Path"]
    assert client.get(f"/api/iiif/canvas/{page}").status_code == 200
    unknown = client.get("/api/iiif/image/nothing/info.json")
    assert unknown.status_code == 404
    assert "No open project" in unknown.json()["detail"]


def test_a_project_out_of_reach_is_not_looked_into(engine: Engine, page: str) -> None:
    bound = replace(OWNER, libraries=frozenset({"/elsewhere/Other.library"}))
    with pytest.raises(UnknownHere, match="No open project"):
        project_with(engine, bound, page)


def test_a_viewer_whose_origin_is_named_may_read(make_engine: Any, tmp_path: Any) -> None:
    engine = make_engine(cors_origins="https://viewer.example")
    engine.run(None, "library.create", {"path": str(tmp_path / "Open.library")}, OWNER)
    library = engine.libraries.get(tmp_path / "Open.library")
    page = add_page(engine, library)
    for client in http_client(engine):
        answer = client.get(f"/api/iiif/image/{page}/info.json", headers={"Origin": "https://viewer.example"})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://viewer.example"
        assert "Accept" in answer.headers["vary"]


def test_a_url_in_two_open_projects_is_ambiguous(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    path = library.path
    engine.libraries.release(path)
    copy = path.with_name("Copy.library")
    shutil.copytree(path, copy)
    engine.libraries.get(path)
    engine.libraries.get(copy)
    named_answer = client.get(f"/api/iiif/canvas/{page}")
    assert named_answer.status_code == 200
    del client.headers["X-Service-Library-Path"]
    answer = client.get(f"/api/iiif/canvas/{page}")
    assert (answer.status_code, answer.json()["code"]) == (409, "library_required")


def test_a_line_with_readings_of_its_words_only_has_their_text(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    def word(identity: str, left: int, text: str) -> str:
        return (
            f'<Word id="{identity}"><Coords points="{left},20 {left + 40},20 {left + 40},40 {left},40"/>'
            f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv></Word>"
        )

    line = '<TextLine id="w{0}"><Coords points="20,2{0} 300,2{0} 300,6{0} 20,6{0}"/>{1}</TextLine>'
    lines = line.format(0, word("b", 120, "world") + word("a", 20, "Hello")) + line.format(9, "")
    add_lines(engine, library, page, re.sub("<TextLine.*</TextLine>", lines, PAGE, flags=re.DOTALL))
    one, other = lines_of(client, page)["items"]
    assert (one["body"]["value"], one["creator"]["type"]) == ("Hello world", "Software")
    assert (other["body"]["value"], "creator" in other) == ("", False)


def test_a_page_of_two_thousand_lines_is_served(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    one = '<TextLine id="l{0}"><Coords points="40,{1} 360,{1} 360,{2} 40,{2}"/></TextLine>'
    many = "".join(one.format(number + 10, 70 + number % 200, 71 + number % 200) for number in range(2000))
    add_lines(engine, library, page, PAGE.replace("</TextRegion>", f"{many}</TextRegion>"))
    assert len(lines_of(client, page)["items"]) == 2002


def test_words_that_were_placed_are_annotations_and_hits_where_they_stand(
    engine: Engine, library: Library, client: TestClient, page: str
) -> None:
    add_lines(engine, library, page)
    answer = client.get(f"/api/segments/document/{page}/lines").json()
    pass_id, (line, other) = answer["pass_id"], (line["segment_id"] for line in answer["lines"])
    run_action(engine, library, "representation.create", segment_id=line, text="My dear Éva")
    run_action(engine, library, "representation.create", segment_id=other, text="dear me")
    for place, word in enumerate(["My", "dear", "Éva"]):
        anchor = {"rect": [0.1 + 0.2 * place, 0.1, 0.1, 0.05]}
        made = {"document_id": page, "pass_id": pass_id, "kind": "word", "anchor": anchor}
        given = [{**made, "parent_segment_id": line}]
        (segment,) = run_action(engine, library, "segment.create_many", segments=given)["items"]
        run_action(engine, library, "representation.create", segment_id=segment["id"], text=word)

    def find_words(**query: str) -> list[tuple[str, str, str]]:
        answer = client.get(f"/api/iiif/iiif/lines/{page}", params=query).json()["items"]
        assert len({item["id"] for item in answer}) == len(answer)
        return [
            (item["textGranularity"], item["body"]["value"], item["target"].partition("#")[2])
            for item in answer
        ]

    words = [
        ("word", "My", "xywh=40,30,40,15"),
        ("word", "dear", "xywh=120,30,40,15"),
        ("word", "Éva", "xywh=200,30,40,15"),
    ]
    unplaced = ("line", "dear me", find_words()[1][2])
    assert find_words(granularity="word") == [*words, unplaced]
    assert find_words(q="dear") == [words[1], unplaced]
    assert find_words(q="eva, DEAR") == [words[1], words[2]]
    assert find_words(q="!?") == find_words(q="nobody") == []
    assert [word[0] for word in find_words()] == ["line", "line"]
    found_answer = client.get(f"/api/iiif/search/2/{page}", params={"q": "dear"}).json()
    targets = [(item["body"]["value"], item["target"].partition("#")[2]) for item in found_answer["items"]]
    assert targets == [one[1:] for one in (words[1], unplaced)]
    hits = found_answer["annotations"][0]["items"]
    assert [hit["motivation"] for hit in hits] == ["contextualizing", "highlighting"]
    assert hits[0]["target"]["selector"][0]["prefix"] == "My "
