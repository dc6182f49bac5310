"""Transcriptions inside a manifest become passes; what else it says of a canvas is named in the notes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_iiif.manifest_reader import read_manifest

Json = dict[str, Any]


def canvas_3(number: int = 1, **more: Any) -> Json:
    identity = f"https://example.org/c/{number}"
    picture = {"id": "https://example.org/i.jpg", "type": "Image", "width": 900, "height": 1200}
    painting = {"type": "Annotation", "motivation": "painting", "target": identity, "body": picture}
    page = {"type": "AnnotationPage", "items": [painting]}
    label = {"none": [f"{number}r"]}
    return {
        "id": identity,
        "type": "Canvas",
        "label": label,
        "width": 3600,
        "height": 4800,
        "items": [page],
        **more,
    }


def manifest_3(*canvases: Json, **more: Any) -> bytes:
    label = {"en": ["Book"]}
    return orjson.dumps(
        {"id": "https://example.org/m", "type": "Manifest", "label": label, "items": list(canvases), **more}
    )


def annotation(body: Any, target: Any = "https://example.org/c/1#xywh=60,100,800,60", **more: Any) -> Json:
    return {"type": "Annotation", "motivation": "supplementing", "target": target, "body": body, **more}


def text(value: str, **more: Any) -> Json:
    return {"type": "TextualBody", "value": value, **more}


def page_of(*annotations: Json) -> Json:
    return {"type": "AnnotationPage", "id": "https://example.org/ap", "items": list(annotations)}


def bring_in(engine: Engine, library: Library, data: bytes) -> Json:
    params = {"file": data.decode(), "filename": "m.json"}
    return engine.run(library, "iiif.import", params, LOCAL_OWNER).result or {}


def rows(library: Library, statement: str) -> list[tuple[Any, ...]]:
    with library.db.read() as conn:
        return raw_of(conn).execute(statement).fetchall()


LINES = (
    "SELECT r.content, s.kind, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h FROM segment s"
    " JOIN content_representation r ON r.segment_id = s.id ORDER BY s.id"
)


def test_annotations_inside_the_manifest_are_lines_of_their_page(
    engine: Engine, library: Library, client: Any
) -> None:
    canvas = canvas_3(annotations=[page_of(annotation(text("In the year of the flood", language="en")))])
    imported_manifest = bring_in(engine, library, manifest_3(canvas, canvas_3(2)))
    assert (imported_manifest["passes"], imported_manifest["notes"]) == (1, [])
    assert rows(library, LINES) == [
        ("In the year of the flood", "line", *(pytest.approx(one) for one in (1 / 60, 1 / 48, 2 / 9, 1 / 80)))
    ]
    ((page,),) = rows(library, "SELECT id FROM document WHERE name = '1r'")
    answer = client.get(f"/api/segments/document/{page}/text").json()
    assert (answer["text"], answer["pass_basis"]) == ("In the year of the flood", "imported-only")
    ((imported,),) = rows(library, "SELECT provenance_kind FROM segment_pass")
    assert imported == "external_import"


def test_an_import_with_transcriptions_is_undone_as_one_step(engine: Engine, library: Library) -> None:
    data = manifest_3(canvas_3(annotations=[page_of(annotation(text("One")))]))
    step = engine.run(library, "iiif.import", {"file": data.decode(), "filename": "m.json"}, LOCAL_OWNER)
    engine.undo(library, [step.audit_id], LOCAL_OWNER)
    assert rows(library, "SELECT count(*) FROM segment_pass") == [(0,)]


@pytest.mark.parametrize(
    "target",
    [
        {"type": "SpecificResource", "source": "https://example.org/c/1",
         "selector": {"type": "FragmentSelector", "value": "xywh=60,100,800,60"}},
        {"source": "https://example.org/c/1", "selector": [
            {"type": "SvgSelector", "value": "<svg><path d='M60,100 L860,100 L860,160 L60,160 Z'/></svg>"}]},
        ["https://example.org/c/1#xywh=pixel:60,100,800,60"],
        "https://example.org/c/1#xywh=percent:1.6666667,2.0833333,22.2222222,1.25",
    ],
    ids=["a fragment", "a drawing", "a list", "per cent"],
)  # fmt: skip
def test_a_place_may_be_stated_in_several_ways(target: Any) -> None:
    manifest = read_manifest(
        manifest_3(canvas_3(annotations=[page_of(annotation(text("One"), target))])), "m"
    )
    ((one,),) = [canvas.texts for canvas in manifest.canvases]
    assert one.box == pytest.approx((60, 100, 800, 60), abs=0.1)


def test_a_text_of_the_whole_canvas_is_its_lines(engine: Engine, library: Library) -> None:
    whole = annotation(
        text("<p>One<br/>two &amp; three</p>\n<p><b>four</b></p>", format="text/html"),
        "https://example.org/c/1",
    )
    bring_in(engine, library, manifest_3(canvas_3(annotations=[page_of(whole)])))
    assert [row[:2] for row in rows(library, LINES)] == [
        ("One", "line"),
        ("two & three", "line"),
        ("four", "line"),
    ]


def test_annotations_of_presentation_2_inside_the_manifest_are_read() -> None:
    annotation = {
        "@type": "oa:Annotation",
        "motivation": "sc:painting",
        "resource": {"@type": "cnt:ContentAsText", "chars": "Vorwort", "language": "de"},
        "on": "https://example.org/c/1#xywh=10,20,300,40",
    }
    canvas = {
        "@id": "https://example.org/c/1", "@type": "sc:Canvas", "label": "1", "width": 1000, "height": 1400, "images": [],
        "otherContent": [{"@type": "sc:AnnotationList", "resources": [annotation]}, {"@id": "https://example.org/list"}],
    }  # fmt: skip
    data = orjson.dumps(
        {
            "@id": "https://example.org/m",
            "@type": "sc:Manifest",
            "label": "B",
            "sequences": [{"canvases": [canvas]}],
        }
    )
    manifest = read_manifest(data, "m")
    assert manifest.canvases[0].texts == [(["Vorwort"], (10, 20, 300, 40), "de")]
    assert any("1 list of annotations" in note for note in manifest.notes)


def test_words_beside_lines_are_left_out_and_comments_are_named() -> None:
    canvas = canvas_3(
        annotations=[
            page_of(
                annotation(text("In the"), textGranularity="line"),
                annotation(text("In"), textGranularity="word"),
                {**annotation(text("see f. 3")), "motivation": "commenting"},
                annotation("https://example.org/elsewhere.txt"),
            )
        ]
    )
    manifest = read_manifest(manifest_3(canvas), "m")
    assert [one.lines for one in manifest.canvases[0].texts] == [["In the"]]
    assert [note for note in manifest.notes if "annotation" in note] == [
        "2 annotations are comments, tags or links and no transcription: only in the manifest, which is kept.",
        "1 annotation of a word or letter repeats part of a line: left out.",
    ]


def test_everything_else_that_a_manifest_offers_is_named() -> None:
    alto = {
        "id": "https://example.org/1.xml",
        "format": "application/xml",
        "profile": "http://www.loc.gov/standards/alto/v3",
    }
    canvas = canvas_3(seeAlso=[alto, {"id": "https://example.org/1.rdf", "format": "application/rdf"}])
    body = canvas["items"][0]["items"][0]["body"]
    canvas["items"][0]["items"][0]["body"] = {
        "type": "Choice",
        "items": [body, {**body, "id": "https://example.org/uv.jpg"}],
    }
    pdf = {"id": "https://example.org/book.pdf", "type": "Text", "format": "application/pdf"}
    manifest = read_manifest(
        manifest_3(canvas, rendering=[pdf], structures=[{"type": "Range", "items": []}]), "m"
    )
    assert manifest.canvases[0].image == "https://example.org/i.jpg"
    for words in (
        "1 canvas offers several pictures",
        "1 file with the text of a canvas",
        "1 other form",
        "1 range",
    ):
        assert sum(note.startswith(words) for note in manifest.notes) == 1, (words, manifest.notes)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (
            [{"@language": "de", "@value": "Vorderdeckel"}, {"@language": "en", "@value": "front cover"}],
            "front cover",
        ),
        ({"@value": "1v", "@language": "en"}, "1v"),
        (["p. 1", "page 1"], "p. 1 page 1"),
    ],
)
def test_labels_of_all_shapes_are_words(label: Any, words: str) -> None:
    (canvas,) = read_manifest(manifest_3({**canvas_3(), "label": label}), "m").canvases
    assert canvas.label == words


def test_lines_of_a_smaller_picture_fit_the_larger_canvas(
    engine: Engine, library: Library, client: Any
) -> None:
    bring_in(engine, library, manifest_3(canvas_3()))
    ((page,),) = rows(library, "SELECT id FROM document WHERE name = '1r'")
    layout = (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename="i.jpg"'
        ' imageWidth="900" imageHeight="1200"><TextRegion id="r"><Coords points="60,100 900,100 900,180 60,180"/>'
        '<TextLine id="l"><Coords points="60,100 900,100 900,180 60,180"/><TextEquiv><Unicode>One</Unicode></TextEquiv>'
        "</TextLine></TextRegion></Page></PcGts>"
    )
    engine.run(
        library, "format.import", {"document_id": page, "file": layout, "filename": "a.xml"}, LOCAL_OWNER
    )
    (line,) = client.get(f"/api/iiif/iiif/lines/{page}").json()["items"]
    assert "#xywh=240,400,3360,320" in orjson.dumps(line["target"]).decode()
