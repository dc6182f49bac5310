"""Importing folders and files: what is imported, in which order, and what is refused while the rest continues."""

from __future__ import annotations

import io
import os
import struct
import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents_fixtures import (
    EDITOR,
    OWNER,
    Run,
    count,
    imported_of,
    make_turned_picture,
    names_under,
    picture,
    rows,
)

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound

Import = Callable[..., dict[str, Any]]


def whys(done: dict[str, Any]) -> dict[str, str]:
    return {entry["file"]: entry["why"] for entry in done["refused"]}


def test_a_folder_comes_in_mirrored_in_natural_order(
    import_and_wait: Import, source: Path, library: Library
) -> None:
    for name in ("10.jpg", "2.jpg", "1.jpg"):
        (source / name).write_bytes(picture(grey=len(name) + ord(name[0])))
    (source / "verso" / "deep").mkdir(parents=True)
    (source / "verso" / "a.png").write_bytes(picture(form="PNG"))
    (source / "verso" / "deep" / "b.tif").write_bytes(picture(form="TIFF"))
    (source / "empty folder").mkdir()
    done = import_and_wait(folder=str(source))
    assert (done["state"], done["files"], done["refused"], done["left"]) == ("done", 5, [], [])
    assert names_under(library, imported_of(library)) == ["1.jpg", "2.jpg", "10.jpg", "verso"]
    ((verso,),) = rows(library, "SELECT id FROM document WHERE name = 'verso'")
    assert names_under(library, verso) == ["a.png", "deep"]


def test_a_node_says_where_it_came_from(
    import_and_wait: Import, source: Path, library: Library, client: Any
) -> None:
    data = picture(300, 200)
    (source / "1.jpg").write_bytes(data)
    import_and_wait(folder=str(source))
    ((identity,),) = rows(library, "SELECT id FROM document WHERE name = '1.jpg'")
    answer = client.get(f"/api/documents/{identity}").json()
    metadata = answer["metadata"]
    assert metadata["source_type"] == "local"
    assert metadata["full_path"] == str(source / "1.jpg")
    assert (metadata["width"], metadata["height"], metadata["file_size"]) == (300, 200, len(data))
    assert (answer["doc_type"], answer["file_type"], answer["has_thumbnail"]) == ("file", "image", True)
    assert library.objects.path(metadata["checksum"]).read_bytes() == data


def test_without_recursion_folders_are_passed_over(
    import_and_wait: Import, source: Path, library: Library
) -> None:
    (source / "1.jpg").write_bytes(picture())
    (source / "in").mkdir()
    (source / "in" / "2.jpg").write_bytes(picture())
    assert import_and_wait(folder=str(source), recursive=False)["files"] == 1
    assert names_under(library, imported_of(library)) == ["1.jpg"]


def test_named_files_come_in_as_given(
    import_and_wait: Import, source: Path, library: Library, folder: Callable[..., str]
) -> None:
    for name in ("b.jpg", "a.jpg"):
        (source / name).write_bytes(picture())
    box = folder("Box")
    done = import_and_wait(paths=[str(source / "b.jpg"), str(source / "a.jpg")], parent_id=box)
    assert done["files"] == 2
    assert names_under(library, box) == ["b.jpg", "a.jpg"]


def test_an_import_is_one_set_and_taken_back_as_one(
    import_and_wait: Import, source: Path, library: Library, engine: Engine
) -> None:
    for number in range(60):
        (source / f"{number}.png").write_bytes(picture(8, 8, grey=number, form="PNG"))
    (source / "in").mkdir()
    (source / "in" / "1.png").write_bytes(picture(8, 8, form="PNG"))
    done = import_and_wait(folder=str(source))
    steps = rows(library, "SELECT id FROM audit WHERE set_id = ? ORDER BY seq", done["id"])
    assert len(steps) >= 3
    assert count(library, "document") == 64
    back = engine.undo(library, [row[0] for row in steps], OWNER)
    assert (count(library, "document"), count(library, "rendition")) == (1, 0)
    engine.undo(library, back["audit_ids"], OWNER)
    assert (count(library, "document"), count(library, "rendition")) == (64, 61)


def test_a_second_import_goes_behind_the_first(
    import_and_wait: Import, source: Path, library: Library
) -> None:
    (source / "b.jpg").write_bytes(picture())
    import_and_wait(folder=str(source))
    (source / "b.jpg").rename(source / "a.jpg")
    import_and_wait(folder=str(source))
    assert names_under(library, imported_of(library)) == ["b.jpg", "a.jpg"]


def test_what_is_in_its_place_is_left_and_counted(
    import_and_wait: Import, source: Path, library: Library, do: Run
) -> None:
    (source / "box" / "inner").mkdir(parents=True)
    (source / "a.jpg").write_bytes(picture(grey=1))
    (source / "box" / "b.jpg").write_bytes(picture(grey=2))
    (source / "box" / "inner" / "c.jpg").write_bytes(picture(grey=3))
    first = import_and_wait(folder=str(source))
    assert (first["files"], first["already"]) == (3, 0)
    again = import_and_wait(folder=str(source))
    assert (again["files"], again["already"], again["documents"], again["refused_count"]) == (0, 3, 0, 0)
    assert count(library, "document") == 7
    # New files are put into the existing folders; a changed file is a new one, and so is a file under another name.
    (source / "box" / "inner" / "d.jpg").write_bytes(picture(grey=4))
    (source / "box" / "b.jpg").write_bytes(picture(grey=5))
    (source / "copy.jpg").write_bytes(picture(grey=1))
    grown = import_and_wait(folder=str(source))
    assert (grown["files"], grown["already"], grown["documents"]) == (3, 2, 3)
    # A file in the Trash does not count as imported; with `again` everything is imported anew.
    ((a_jpg,),) = rows(library, "SELECT id FROM document WHERE name = 'a.jpg'")
    do("document.delete", {"ids": [a_jpg]})
    assert import_and_wait(folder=str(source))["files"] == 1
    every = import_and_wait(folder=str(source), again=True)
    assert (every["files"], every["already"]) == (5, 0)
    assert rows(library, "SELECT count(*) FROM document WHERE name = 'inner'") == [(2,)]


def test_the_pages_that_a_broken_off_import_did_not_come_to_are_added(
    import_and_wait: Import, source: Path, library: Library, do: Run
) -> None:
    from PIL import Image

    pages = [Image.new("L", (30, 20), n * 20) for n in range(5)]
    pages[0].save(source / "roll.tif", save_all=True, append_images=pages[1:])
    pages[0].save(source / "book.pdf", save_all=True, append_images=pages[1:3])
    import_and_wait(folder=str(source))
    whole = import_and_wait(folder=str(source))
    assert (whole["files"], whole["already"], whole["documents"]) == (0, 2, 0)
    # As after a kill whose job was cancelled: some pages of the file are missing, for good.
    lost = [
        row[0]
        for row in rows(library, "SELECT id FROM document WHERE doc_type = 'page' AND sequence IN (2, 4)")
    ]
    do("document.delete", {"ids": lost[:1]})
    trashed = import_and_wait(folder=str(source))
    assert (trashed["files"], trashed["already"], trashed["documents"]) == (0, 2, 0)
    do("document.delete", {"ids": lost[1:]})
    do("document.empty_trash", {})
    mended = import_and_wait(folder=str(source))
    assert (mended["files"], mended["already"], mended["documents"]) == (2, 0, 3)
    for name, number in (("roll.tif", 5), ("book.pdf", 3)):
        assert rows(
            library,
            "SELECT group_concat(sequence) FROM (SELECT p.sequence FROM document p JOIN document f"
            " ON f.id = p.parent_id WHERE f.name = ? ORDER BY p.sequence)",
            name,
        ) == [(",".join(str(n + 1) for n in range(number)),)]
    assert count(library, "document") == 12


def test_what_a_second_import_brought_is_taken_back_alone(
    import_and_wait: Import, source: Path, library: Library, engine: Engine
) -> None:
    (source / "a.jpg").write_bytes(picture(grey=1))
    import_and_wait(folder=str(source))
    (source / "b.jpg").write_bytes(picture(grey=2))
    second = import_and_wait(folder=str(source))
    steps = [
        row[0]
        for row in rows(
            library,
            "SELECT id FROM audit WHERE set_id = ? AND action_name = 'document.add_files'",
            second["id"],
        )
    ]
    engine.undo(library, steps, OWNER)
    assert names_under(library, imported_of(library)) == ["a.jpg"]
    assert import_and_wait(folder=str(source))["files"] == 1


@pytest.mark.parametrize("form", ["JPEG", "TIFF", "PNG"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_turned_picture_has_the_size_a_person_sees(
    import_and_wait: Import, source: Path, library: Library, form: str, orientation: int
) -> None:
    from PIL import Image

    from armarium_documents.api import page_image

    (source / "1.jpg").write_bytes(make_turned_picture(orientation, form))
    import_and_wait(folder=str(source))
    ((identity,),) = rows(library, "SELECT id FROM document WHERE name = '1.jpg'")
    wanted = (90, 120) if orientation >= 5 else (120, 90)
    with library.db.read() as conn:
        found = page_image(library, conn, identity)
    assert (found.width, found.height) == wanted
    with Image.open(found.path) as image:
        image.load()
        assert image.size == wanted
        # The dark corner is stored top left; this is where it must be when the picture is upright.
        corner = {1: (0, 0), 3: (1, 1), 6: (1, 0), 8: (0, 1)}[orientation]
        at = ((image.width - 8) * corner[0] + 4, (image.height - 8) * corner[1] + 4)
        assert image.convert("L").getpixel(at) < 60
    with Image.open(_thumbnail(library, identity)) as thumb:
        assert thumb.size == wanted


def _thumbnail(library: Library, identity: str) -> Path:
    from armarium_documents.queries.files import thumbnail_file

    return thumbnail_file(library, identity)[0]


# ------------------------------------------------------------------------------------------ hostile input


def flat_png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    line = b"\0" * (1 + width // 8)
    body = b"".join(packer.compress(line) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def bomb_tiff() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("1", (14_000, 14_000), 1).save(file, "TIFF", compression="tiff_deflate")
    return file.getvalue()


def test_bad_files_get_a_sentence_and_the_rest_is_imported(
    import_and_wait: Import, source: Path, library: Library, tmp_path: Path
) -> None:
    good = picture(400, 300)
    (source / "1 good.jpg").write_bytes(good)
    (source / "2 cut.jpg").write_bytes(good[: len(good) // 2])
    (source / "3 huge.png").write_bytes(flat_png(40_000, 40_000))
    (source / "4 bomb.tif").write_bytes(bomb_tiff())
    (source / "5 text.jpg").write_text("Anno domini 1750")
    (source / "6 empty.png").write_bytes(b"")
    (source / "7 notes.docx").write_bytes(b"PK\3\4")
    (source / "8 damaged.pdf").write_bytes(b"%PDF-1.7\nnothing")
    (tmp_path / "outside.jpg").write_bytes(good)
    (source / "9 link.jpg").symlink_to(tmp_path / "outside.jpg")
    (source / "a dangling.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (tmp_path / "elsewhere").mkdir()
    (source / "b linked folder").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(source / "c pipe.jpg")
    (source / "d control\x07.jpg").write_bytes(good)
    (source / "z good.jpg").write_bytes(good)
    done = import_and_wait(folder=str(source))
    assert done["state"] == "done"
    assert names_under(library, imported_of(library)) == ["1 good.jpg", "z good.jpg"]
    said = whys(done)
    assert done["refused_count"] == len(said) == 12
    for name, words in {
        "2 cut.jpg": "damaged",
        "3 huge.png": "1,600,000,000",
        "4 bomb.tif": "bomb",
        "5 text.jpg": "a text",
        "6 empty.png": "0 bytes",
        "7 notes.docx": "not imported",
        "8 damaged.pdf": "damaged or truncated",
        "9 link.jpg": "outside the folder",
        "a dangling.jpg": "broken link",
        "b linked folder": "outside the folder",
        "c pipe.jpg": "ordinary file",
        "d control\x07.jpg": "U+0007",
    }.items():
        assert words in said[name], said[name]
        assert said[name].endswith(".")
    assert len(list(library.objects.digests())) == 1


def test_refused_files_are_in_the_log_too(import_and_wait: Import, source: Path, library: Library) -> None:
    (source / "text.jpg").write_text("Anno domini 1750")
    done = import_and_wait(folder=str(source))
    lines = rows(library, "SELECT message FROM job_log WHERE row_id = ? AND level = 'warning'", done["id"])
    assert len(lines) == 1
    assert "text.jpg" in lines[0][0]
    assert "Anno domini" not in lines[0][0]


def test_two_files_of_the_same_bytes_are_two_nodes_and_one_object(
    import_and_wait: Import, source: Path, library: Library
) -> None:
    for name in ("a.jpg", "b.jpg"):
        (source / name).write_bytes(picture())
    import_and_wait(folder=str(source))
    assert (count(library, "document"), count(library, "rendition")) == (4, 2)
    assert len(list(library.objects.digests())) == 1


def test_names_in_both_unicode_forms_come_in_as_nfc(
    import_and_wait: Import, source: Path, library: Library
) -> None:
    for form in ("NFC", "NFD"):
        (source / unicodedata.normalize(form, f"Año {form}.jpg")).write_bytes(picture())
        (source / unicodedata.normalize(form, "Ñandú.jpg")).write_bytes(picture())
    import_and_wait(folder=str(source))
    assert names_under(library, imported_of(library)) == [
        "Año NFC.jpg",
        "Año NFD.jpg",
        "Ñandú.jpg",
        "Ñandú.jpg",
    ]


def test_layout_files_are_left_for_the_formats(import_and_wait: Import, source: Path) -> None:
    (source / "page").mkdir()
    (source / "1.jpg").write_bytes(picture())
    (source / "page" / "1.xml").write_text("<PcGts/>")
    (source / "1.hocr").write_text("<html/>")
    done = import_and_wait(folder=str(source))
    assert (done["left"], done["files"], done["refused"]) == (["1.hocr", "page/1.xml"], 1, [])


def test_hidden_files_and_system_leavings_are_passed_over(import_and_wait: Import, source: Path) -> None:
    for name in (".DS_Store", "._1.jpg", "Thumbs.db", "desktop.ini"):
        (source / name).write_bytes(b"x")
    done = import_and_wait(folder=str(source))
    assert (done["state"], done["files"], done["refused_count"], done["left_count"]) == ("done", 0, 0, 0)


def test_a_file_that_vanishes_during_the_import_is_reported(
    import_and_wait: Import, source: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_documents.jobs import imports

    for name in "abc":
        (source / f"{name}.jpg").write_bytes(picture())
    really = imports.take_in

    def take(library: Library, path: Path, *, max_pixels: int) -> Any:
        if path.name == "b.jpg":
            path.unlink()
        return really(library, path, max_pixels=max_pixels)

    monkeypatch.setattr(imports, "take_in", take)
    done = import_and_wait(folder=str(source))
    assert "disappeared" in whys(done)["b.jpg"]
    assert names_under(library, imported_of(library)) == ["a.jpg", "c.jpg"]


def test_a_file_that_changes_during_the_import_is_reported(
    import_and_wait: Import, source: Path, monkeypatch: pytest.MonkeyPatch, library: Library
) -> None:
    (source / "a.jpg").write_bytes(picture())
    really = type(library.objects).put_file

    def put(self: Any, path: Path) -> str:
        digest = really(self, path)
        path.write_bytes(picture(grey=1))
        return digest

    monkeypatch.setattr(type(library.objects), "put_file", put)
    assert "changed while" in whys(import_and_wait(folder=str(source)))["a.jpg"]


def test_a_full_disk_fails_the_job_in_words_and_nothing_is_half_written(
    import_and_wait: Import, source: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium.api import Unavailable

    for name in "ab":
        (source / f"{name}.jpg").write_bytes(picture(grey=ord(name)))
    really, kept = type(library.objects).put_file, []

    def put(self: Any, path: Path) -> str:
        kept.append(path)
        if len(kept) == 2:
            raise Unavailable(
                "The disk that holds the project is full; the file was not kept.", code="disk_full"
            )
        return really(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(type(library.objects), "put_file", put)
        done = import_and_wait(folder=str(source))
    assert done["state"] == "failed"
    assert "disk" in done["reason"]
    assert count(library, "document") == 1
    assert import_and_wait(folder=str(source))["files"] == 2


def test_an_undecodable_name_is_refused(import_and_wait: Import, source: Path) -> None:
    path = os.fsencode(source) + b"/\xff.jpg"
    with open(path, "wb") as file:
        file.write(picture())
    done = import_and_wait(folder=str(source))
    assert [entry["why"] for entry in done["refused"]] == ["Its name is not UTF-8; rename it."]


# ----------------------------------------------------------------------------------------------- refusals


def test_what_cannot_be_imported_is_refused_before_any_job(
    do: Run,
    source: Path,
    tmp_path: Path,
    library: Library,
    folder: Callable[..., str],
    note: Callable[..., str],
) -> None:
    (source / "1.jpg").write_bytes(picture())
    inside = str(source)
    for params, refusal, code in (
        ({}, Invalid, "invalid_request"),
        ({"folder": inside, "paths": [inside]}, Invalid, "invalid_request"),
        ({"folder": "pages"}, Invalid, "bad_path"),
        ({"folder": inside + "\0"}, Invalid, "bad_path"),
        ({"folder": inside + "/none"}, NotFound, "path_not_found"),
        ({"folder": inside + "/1.jpg"}, Invalid, "not_a_folder"),
        ({"paths": [inside]}, Invalid, "not_a_file"),
        ({"folder": "/etc"}, Forbidden, "path_not_allowed"),
        ({"paths": ["/etc/passwd"]}, Forbidden, "path_not_allowed"),
        ({"folder": str(library.path)}, Forbidden, "path_not_allowed"),
        ({"folder": str(library.path / "objects")}, Forbidden, "path_not_allowed"),
        ({"folder": inside, "parent_id": "f" * 32}, NotFound, "document_not_found"),
        ({"folder": inside, "parent_id": note("N")}, Invalid, "not_a_container"),
    ):
        with pytest.raises(refusal) as refused:
            do("document.import", params)
        assert refused.value.code == code, params
    (tmp_path / "way out").symlink_to("/etc")
    with pytest.raises(Forbidden):
        do("document.import", {"folder": str(tmp_path / "way out")})
    box = folder("Box")
    do("document.lock", {"document_id": box, "locked": True})
    with pytest.raises(Forbidden):
        do("document.import", {"folder": inside, "parent_id": box}, EDITOR)
    do("document.delete", {"ids": [box]})
    with pytest.raises(Conflict):
        do("document.import", {"folder": inside, "parent_id": box})
    assert count(library, "job", "kind = 'import-files'") == 0


def test_a_batch_that_does_not_hang_together_is_refused(
    do: Run, library: Library, folder: Callable[..., str]
) -> None:
    box = folder("Box")

    def node(identity: str, parent_id: str, **fields: Any) -> dict[str, Any]:
        return {"id": identity, "parent_id": parent_id, "doc_type": "file", "name": "n", **fields}

    absent = {"checksum": "0" * 64, "mime_type": "image/png", "size_bytes": 1}
    for nodes, refusal, code in (
        ([node("a", box), node("a", box)], Invalid, "already_exists"),
        ([node(box, box)], Conflict, "already_exists"),
        ([node("a", "b"), node("b", box)], Invalid, "bad_order"),
        ([node("a", "f" * 32)], NotFound, "document_not_found"),
        ([node("a", box, picture=absent)], Conflict, "object_missing"),
        ([node("a", box), node("b", "a", doc_type="folder")], Invalid, "not_a_container"),
        ([], Invalid, "invalid_request"),
        ([node("a", box, doc_type="alias")], Invalid, "invalid_request"),
    ):
        with pytest.raises(refusal) as refused:
            do("document.add_files", {"nodes": nodes})
        assert refused.value.code == code
    assert count(library, "document") == 2


@pytest.mark.parametrize("word", ["pause", "cancel"])
def test_who_stops_an_import_waits_for_the_file_in_hand_and_no_longer(
    import_and_wait: Import, source: Path, library: Library, engine: Engine, do: Run, monkeypatch, word: str
) -> None:
    from armarium_documents.jobs.imports import Import as Body

    for number in range(4):
        (source / f"{number}.png").write_bytes(picture(grey=number * 9, form="PNG"))
    import_one = Body._import

    def stopped_at_the_second(self: Any, found: Any) -> None:
        import_one(self, found)
        if found.position[-1] == "1.png":
            params = {"job_id": self.ctx.job_id, **({"paused": True} if word == "pause" else {})}
            assert do(f"job.{word}", params)["state"] == "running"

    with monkeypatch.context() as patch:
        patch.setattr(Body, "_import", stopped_at_the_second)
        job_id = import_and_wait(folder=str(source))["id"]
    assert names_under(library, imported_of(library)) == ["0.png", "1.png"]
    do("job.pause", {"job_id": job_id, "paused": False}) if word == "pause" else do(
        "job.retry", {"job_id": job_id}
    )
    engine.jobs.run_until_idle(library)
    assert names_under(library, imported_of(library)) == ["0.png", "1.png", "2.png", "3.png"]
    assert rows(library, "SELECT state FROM job WHERE id = ?", job_id) == [("done",)]


def test_undoing_the_start_cancels_an_import_that_has_not_begun_and_a_redo_queues_it_again(
    engine: Engine, library: Library, source: Path
) -> None:
    (source / "1.jpg").write_bytes(picture())
    begun = engine.run(library, "document.import", {"folder": str(source)}, OWNER)
    assert begun.result is not None

    def state() -> str:
        ((found,),) = rows(library, "SELECT state FROM job WHERE id = ?", begun.result["job_id"])
        return str(found)

    undone = engine.undo(library, [begun.audit_id], OWNER)
    assert state() == "cancelled"
    engine.undo(library, undone["audit_ids"], OWNER)
    assert state() == "waiting"
    engine.jobs.run_until_idle(library)
    assert (state(), count(library, "rendition")) == ("done", 1)
