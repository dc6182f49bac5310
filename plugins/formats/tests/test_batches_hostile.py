"""Hostile and unlucky batches: names that lead elsewhere, links, vanishing files, full disks, thousands of
files.
"""

from __future__ import annotations

import errno
import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from batch_files import list_pairs, page, picture, reasons, rows, send, take, write_files
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium.errors import Invalid, Unavailable
from armarium.projects.libraries import Library
from armarium.store.objects import ObjectStore
from armarium_formats.receiving import MAX_FIELD_BYTES, ReceivedParts
from armarium_testing.digest import differences, table_digests

BATCH = "/api/documents/import-batch"


def zip_members(members: dict[str, bytes], **attributes: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **attributes) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


@pytest.mark.parametrize("name", ["../1.png", "/etc/1.png", "a/../../1.png", "C:/1.png", "a\\..\\1.png"])
def test_a_zip_with_names_outside_its_folder_is_refused_entirely(
    engine: Engine, library: Library, tmp_path: Path, name: str
) -> None:
    answer = send(
        engine,
        library,
        {"good.png": picture(), "bad.zip": zip_members({"2.png": picture(), name: picture()})},
    )
    assert [document["name"] for document in answer["documents"]] == ["good.png"]
    assert "would leave its folder" in reasons(answer, "refused")["bad.zip"]
    assert not (tmp_path / "1.png").exists()


def test_a_link_in_a_zip_and_a_bomb_are_refused(engine: Engine, library: Library) -> None:
    link = zipfile.ZipInfo("1.png")
    link.external_attr = 0o120777 << 16
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(link, "/etc/passwd")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.xml", b" " * 50_000_000)
    answer = send(
        engine,
        library,
        {
            "good.png": picture(),
            "link.zip": file.getvalue(),
            "bomb.zip": bomb.getvalue(),
            "cut.zip": b"PK\x03\x04x",
        },
    )
    said = reasons(answer, "refused")
    assert "a link or a device" in said["link.zip"]
    assert "decompression bomb" in said["bomb.zip"]
    assert "not a readable ZIP" in said["cut.zip"]


def test_uploaded_file_names_cannot_leave_the_folder(engine: Engine, library: Library) -> None:
    answer = send(
        engine,
        library,
        {"../../up.png": picture(grey=1), "/top.png": picture(grey=2), "..\\..\\win.png": picture(grey=3)},
    )
    assert [document["name"] for document in answer["documents"]] == ["up.png", "top.png", "win.png"]
    assert rows(library, "SELECT DISTINCT f.name FROM document d JOIN document f ON f.id = d.parent_id") == [
        ("Sources",)
    ]
    assert [document["name"] for document in send(engine, library, {"..": picture(grey=9)})["documents"]] == [
        "file"
    ]


def test_paths_that_cannot_be_taken_are_refused_by_themselves(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    """Paths that may not be named at all refuse the whole request (tests/proofs/test_paths_are_checked.py)."""
    (good, other) = write_files(tmp_path / "in", {"1.png": picture(), "2.png": picture(grey=3)})
    (tmp_path / "in" / "loop.png").symlink_to(tmp_path / "in" / "loop.png")
    (tmp_path / "in" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    (tmp_path / "in" / "same.png").symlink_to(other)
    os.mkfifo(tmp_path / "in" / "pipe.png")
    engine._roots[:] = [tmp_path.resolve()]
    stated = [
        str(good),
        str(tmp_path / "in" / "loop.png"),
        str(tmp_path / "in" / "gone.png"),
        str(tmp_path / "in" / "same.png"),
        str(tmp_path / "in" / "pipe.png"),
        str(tmp_path / "in"),
        str(tmp_path / "in" / ".." / "in" / "1.png"),
    ]
    from armarium.principals import LOCAL_OWNER

    answer = engine.run(library, "ingest.files", {"paths": stated}, LOCAL_OWNER).result
    assert answer is not None
    assert [document["name"] for document in answer["documents"]] == ["1.png", "same.png"]
    said = [entry["why"] for entry in answer["refused"]]
    for expected in (
        "Too many levels of symbolic links",
        "nothing there, or it is a link to nothing",
        "not an ordinary file",
        "It is a folder",
        "named twice",
    ):
        assert any(expected in why for why in said), expected
    assert len(said) == 5


def test_a_file_that_vanishes_during_the_batch_is_refused_by_name(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import armarium_formats.batches.staging as staging

    paths = write_files(
        tmp_path, {"1.png": picture(), "1.xml": page("1.png"), "2.xml": page("1.png", text="gone")}
    )
    real = staging.read_layout

    def vanishing(*args: Any, **how: Any) -> Any:
        (tmp_path / "2.xml").unlink(missing_ok=True)
        return real(*args, **how)

    monkeypatch.setattr(staging, "read_layout", vanishing)
    answer = take(engine, library, paths)
    assert list_pairs(answer) == {"1.xml": "1.png"}
    assert "No such file" in reasons(answer, "refused")["2.xml"]


def test_files_with_impossible_shapes_or_names_are_refused_without_affecting_others(
    engine: Engine, library: Library
) -> None:
    outside = page("1.png").replace(b"2,2 118,2 118,20 2,20", b"902,2 918,2 918,20 902,20")
    answer = send(
        engine,
        library,
        {
            "1.png": picture(),
            "1.xml": page("1.png"),
            "page/1.xml": outside,
            "1.alto": page("1.png"),
            "\x07.png": picture(grey=4),
            "x\x07/2.png": picture(grey=5),
        },
    )
    said = reasons(answer, "refused")
    assert "are entirely outside" in said["page/1.xml"]
    assert "is already the pass" in said["1.alto"]
    assert "control character" in said["\x07.png"]
    assert "name of its folder" in said["x\x07/2.png"]
    assert len(answer["passes"]) == 1
    # The refused file's passes were not written.
    assert rows(library, "SELECT count(*) FROM segment_pass") == [(1,)]


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses_changes_nothing(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    def digests() -> dict[str, str]:
        return table_digests(library.db, engine.library_schema)

    before = digests()
    files = {"1.png": picture(), "1.xml": page("1.png")}

    def refusing(self: ObjectStore, temporary: Path, digest: str) -> None:
        raise OSError(fault, os.strerror(fault))

    with monkeypatch.context() as patched:
        patched.setattr(ObjectStore, "_settle", refusing)
        with pytest.raises(Unavailable):
            send(engine, library, files)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", lambda self, data: refusing(library.objects, self, ""))
        with pytest.raises(Unavailable):
            send(engine, library, files)
        with pytest.raises(Unavailable):
            send(engine, library, {"x.zip": zip_members(files)})
    assert differences(before, digests()) == []
    assert list((library.objects.root / "tmp").glob("ingest-*")) == []
    assert len(send(engine, library, files)["passes"]) == 1


@pytest.mark.slow
def test_five_thousand_files_at_once(engine: Engine, library: Library) -> None:
    files = {}
    for number in range(2500):
        files[f"{number:04}.png"] = picture(40, 30, number % 256)
        files[f"page/{number:04}.xml"] = page(f"{number:04}.png", 40, 30, f"line {number}")
    answer = send(engine, library, files)
    assert (len(answer["documents"]), len(answer["passes"])) == (2500, 2500)
    assert (answer["unpaired"], answer["refused"]) == ([], [])
    names = {document["id"]: document["name"] for document in answer["documents"]}
    assert all(
        names[page_pass["document_id"]][:4] == page_pass["file"][5:9] for page_pass in answer["passes"]
    )


def test_files_are_sent_over_http(client: TestClient, library: Library) -> None:
    answer = client.post(
        BATCH,
        files=[
            ("files", ("box/1.png", picture(), "image/png")),
            ("files", ("box/page/1.xml", page("1.png"), "text/xml")),
            ("files", ("Ma\u00f1ana \u4e2d.png", picture(grey=3), "image/png")),
        ],
    )
    assert answer.status_code == 200, answer.text
    new_answer = answer.json()
    assert answer.headers["X-Service-Audit-Id"] == new_answer["audit_id"]
    assert list_pairs(new_answer) == {"box/page/1.xml": "1.png"}
    assert [document["name"] for document in new_answer["documents"]] == ["1.png", "Ma\u00f1ana \u4e2d.png"]
    again = client.post(BATCH, files=[("files", ("box/1.png", picture(), "image/png"))])
    assert (again.status_code, again.json()["code"]) == (409, "already_here")
    undone = client.post(f"/api/actions/audit/{new_answer['audit_id']}/undo")
    assert undone.status_code == 200
    assert list((library.objects.root / "tmp").glob("ingest-*")) == []


def test_paths_are_named_over_http(client: TestClient, tmp_path: Path) -> None:
    paths = write_files(tmp_path, {"1.png": picture(), "1.xml": page("1.png")})
    answer = client.post("/api/ingest/files", json={"paths": [str(path) for path in paths], "link": True})
    assert answer.status_code == 200, answer.text
    assert list_pairs(answer.json()) == {"1.xml": "1.png"}
    for body in ({"paths": []}, {}, {"paths": ["/x"], "copy": True}, {"paths": [""]}):
        assert client.post("/api/ingest/files", json=body).status_code == 422
    unknown = client.post("/api/ingest/files", json={"paths": [str(paths[0])], "parent_id": "0" * 32})
    assert unknown.status_code == 404


BOUND = "----x"


def body(*parts: str, end: str = f"--{BOUND}--\r\n") -> bytes:
    return ("".join(f"--{BOUND}\r\n{part}\r\n" for part in parts) + end).encode()


FILE = 'Content-Disposition: form-data; name="files"; filename="1.png"\r\n\r\nx'


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (b"{}", "text/plain", "content type"),
        (b"", "multipart/form-data", "not multipart"),
        (body(FILE, end=""), f"multipart/form-data; boundary={BOUND}", "ends"),
        (b"nonsense", f"multipart/form-data; boundary={BOUND}", "not valid multipart"),
        (body(), f"multipart/form-data; boundary={BOUND}", "No file was sent"),
        (body("X: y\r\n\r\nx"), f"multipart/form-data; boundary={BOUND}", "has no name"),
        (
            body('Content-Disposition: form-data; name="files"\r\n\r\nx'),
            f"multipart/form-data; boundary={BOUND}",
            "without a file name",
        ),
        (
            body(FILE, 'Content-Disposition: form-data; name="other"\r\n\r\nx'),
            f"multipart/form-data; boundary={BOUND}",
            "There is no field 'other'",
        ),
        (
            body(f'Content-Disposition: form-data; name="parent_id"\r\n\r\n{"x" * (MAX_FIELD_BYTES + 1)}'),
            f"multipart/form-data; boundary={BOUND}",
            "longer than 64 KiB",
        ),
        (
            body(f'Content-Disposition: form-data; name="{"n" * 20_000}"\r\n\r\nx'),
            f"multipart/form-data; boundary={BOUND}",
            "header",
        ),
        (body(FILE), f"multipart/form-data; boundary={BOUND}", "Nothing was imported"),
    ],
)
def test_bad_bodies_are_refused_in_words(client: TestClient, content: bytes, kind: str, said: str) -> None:
    answer = client.post(BATCH, content=content, headers={"Content-Type": kind})
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["detail"]


def test_a_boundary_longer_than_the_parser_takes_is_refused_in_words(client: TestClient) -> None:
    for route in (BATCH, f"/api/documents/{'0' * 32}/import"):
        kind = f"multipart/form-data; boundary={'b' * 257}"
        answer = client.post(route, content=b"--b", headers={"Content-Type": kind})
        assert answer.status_code == 400, answer.text
        assert "JSON" not in answer.json()["detail"]
        assert "boundary" in answer.json()["detail"] or "multipart" in answer.json()["detail"]


def test_an_endless_header_is_refused(tmp_path: Path) -> None:
    received = ReceivedParts(tmp_path, "files", 1)
    with pytest.raises(Invalid, match="16 KiB"):
        received._header_field(b"n" * 20_000, 0, 20_000)


def test_more_files_than_a_batch_takes_are_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    import armarium_formats.routes as routes

    monkeypatch.setattr(routes, "MAX_FILES", 2)
    answer = client.post(
        BATCH, files=[("files", (f"{n}.png", picture(grey=n), "image/png")) for n in range(3)]
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_files")


def test_a_disk_that_fills_while_files_arrive_is_503(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, *args: Any, **kwargs: Any) -> Any:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "open", full)
    answer = client.post(BATCH, files=[("files", ("1.png", picture(), "image/png"))])
    assert (answer.status_code, answer.json()["code"]) == (503, "disk_full")


def test_a_batch_with_an_unnamed_file_is_refused(engine: Engine, library: Library) -> None:
    with pytest.raises(Invalid, match="filename"):
        send(engine, library, {"": picture()})


CHECK = "/api/formats/check"


def test_a_file_of_this_machine_is_checked_in_place(client: TestClient, tmp_path: Path) -> None:
    layout, label, _, _ = write_files(
        tmp_path,
        {
            "1.xml": page("1.png"),
            "2.txt": b"0 0.5 0.5 0.5 0.5\n7 0.5 0.5 0.1 0.1\n",
            "2.png": picture(),
            "classes.txt": b"line\n",
        },
    )
    answer = client.post(CHECK, json={"path": str(layout)})
    assert answer.status_code == 200, answer.text
    found_answer = answer.json()
    assert (found_answer["format"], found_answer["valid"], found_answer["pages"][0]["counts"]["line"]) == (
        "pagexml",
        True,
        1,
    )
    assert {loss["format"]: loss["losses"] for loss in found_answer["losses"]}["pagexml"] == []
    # The picture in the batch gives the size, the classes file the names of the labels.
    labels = client.post(CHECK, json={"path": str(label)}).json()
    assert (labels["format"], labels["valid"]) == ("yolo", None)
    assert labels["pages"][0]["unknown_classes"] == ["7"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("x.xml", 422, "bad_path"),
        ("/etc/passwd", 403, "path_not_allowed"),
        ("{here}", 422, "not_a_file"),
        ("{here}/no", 422, "path_not_found"),
    ],
)
def test_a_path_that_may_not_be_read_is_not_checked(
    client: TestClient, tmp_path: Path, path: str, status: int, code: str
) -> None:
    answer = client.post(CHECK, json={"path": path.format(here=tmp_path)})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
