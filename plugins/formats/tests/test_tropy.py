"""What Tropy exported comes in whole, a second time without doubles, and never from outside its folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest
from batch_files import rows

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.actions.samples import SAMPLE_TROPY, sample_picture
from armarium_formats.tropy.reader import read_tropy


def take(engine: Engine, library: Library, path: Path) -> dict[str, Any]:
    return engine.run(library, "ingest.tropy", {"path": str(path)}, LOCAL_OWNER).result or {}


def export_in(folder: Path, **photo: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "1.png").write_bytes(sample_picture())
    found = orjson.loads(SAMPLE_TROPY)
    found["@graph"][0]["photo"][0] |= photo
    (folder / "items.json").write_bytes(orjson.dumps(found))
    return folder / "items.json"


def test_an_item_becomes_a_document_with_its_metadata_notes_and_texts(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    file = export_in(tmp_path / "box", angle=90)
    answer = take(engine, library, file)
    counts = {name: answer[name] for name in ("items", "new", "pages", "notes", "passes")}
    assert counts == {"items": 1, "new": 1, "pages": 1, "notes": 2, "passes": 1}
    assert {one["what"] for one in answer["losses"]} == {
        "a turned or adjusted view of a photo",
        "formatting of a note",
    }
    ((name, kind, attributes, kept, folder, above),) = rows(
        library,
        "SELECT g.name, g.doc_type, g.attributes, g.source_metadata, f.name, a.name FROM document g JOIN document f"
        " ON f.id = g.parent_id JOIN document a ON a.id = f.parent_id WHERE g.id = ?",
        answer["document_ids"][0],
    )
    assert (name, kind, folder, above) == ("Letter to Ana", "group", "Family", "Letters")
    assert orjson.loads(attributes) == {"title": "Letter to Ana", "date": "1742-05-03", "tags": ["damaged"]}
    assert orjson.loads(kept)["tropy"]["properties"]["date"] == {
        "uri": "http://purl.org/dc/elements/1.1/date",
        "type": "https://tropy.org/v1/tropy#date",
    }
    notes = rows(library, "SELECT text, anchor FROM annotation ORDER BY text")
    assert [(text, orjson.loads(anchor)["rect"]) for text, anchor in notes] == [
        ("A second hand", [0, 0, 1, 1]),
        ("Red wax", pytest.approx([0.1, 0.1, 0.2, 0.2])),
    ]
    texts = rows(library, "SELECT content FROM content_representation ORDER BY content")
    assert texts == [("Dear Ana",), ("I am well",)]

    again = take(engine, library, file)
    assert (again["equal"], again["pages"], again["notes"], again["passes"]) == (1, 0, 0, 0)
    # A value changed here stays; a value changed in Tropy arrives.
    changed = {"title": "Letter to Anna", "date": "1742-05-03", "tags": ["damaged"]}
    engine.run(
        library,
        "document.update",
        {"document_id": answer["document_ids"][0], "attributes": changed},
        LOCAL_OWNER,
    )
    found = orjson.loads(file.read_bytes())
    found["@graph"][0] |= {"date": "1742-05-04", "title": "Letter to A."}
    file.write_bytes(orjson.dumps(found))
    third = take(engine, library, file)
    assert (third["changed"], third["pages"], third["document_ids"]) == (1, 0, answer["document_ids"])
    ((attributes,),) = rows(
        library, "SELECT attributes FROM document WHERE id = ?", answer["document_ids"][0]
    )
    assert orjson.loads(attributes) == changed | {"date": "1742-05-04"}
    assert "a value that was changed here" in {one["what"] for one in third["losses"]}


@pytest.mark.parametrize(
    ("path", "protocol"),
    [
        ("/etc/hostname", "file"),
        ("../secret.png", "file"),
        ("link.png", "file"),
        ("http://localhost/1.png", "http"),
        ("https://localhost/1.png", "file"),
        ("gone.png", "file"),
        ("", "file"),
    ],
)
def test_a_photo_outside_the_folder_is_refused_in_words(
    engine: Engine, library: Library, tmp_path: Path, path: str, protocol: str
) -> None:
    (tmp_path / "secret.png").write_bytes(sample_picture())
    file = export_in(tmp_path / "box", path=path, protocol=protocol)
    (tmp_path / "box" / "link.png").symlink_to(tmp_path / "secret.png")
    answer = take(engine, library, file)
    assert (answer["items"], answer["pages"], len(answer["refused"])) == (1, 0, 1)
    assert answer["refused"][0]["why"].endswith(".")


def test_a_full_path_of_another_machine_stands_for_the_file_beside_it_with_its_checksum(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    checksum = hashlib.md5(sample_picture()).hexdigest()
    file = export_in(tmp_path / "box", path="C:\\Photos\\1.png", checksum=checksum)
    assert take(engine, library, file)["pages"] == 1


def test_what_is_not_an_export_is_refused_and_older_shapes_are_read() -> None:
    for wrong in (b"", b"{}", b"[1]", b'{"@graph": []}', b"[" * 2000):
        with pytest.raises(Invalid):
            read_tropy(wrong, "x.json")
    older = [
        {
            "@context": {
                "@vocab": "https://tropy.org/v1/tropy#",
                "dc": "http://purl.org/dc/elements/1.1/",
                "creator": "dc:creator",
                "photo": {"@container": "@list", "@context": {"heading": "dc:title"}},
            },
            "template": "https://example.org/t",
            "@graph": [{"creator": "Ana", "photo": {"@list": [{"heading": "f. 1"}]}, "list": ["A\\/B/C"]}],
        }
    ]
    (item,) = read_tropy(orjson.dumps(older), "x.json")
    assert item.metadata["http://purl.org/dc/elements/1.1/creator"][0].value == "Ana"
    assert (item.own["template"], item.lists) == ("https://example.org/t", [("A/B", "C")])
    assert item.parts[0].title == "f. 1"
