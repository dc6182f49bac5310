"""File names of every system, the names of programs that share folders, identifiers in files, and writes that meet others."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from sync_desk import PAGE

from armarium_formats.alto.driver import Alto
from armarium_formats.api import ReadContext, WriteContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei
from armarium_sync import disk as disk_module
from armarium_sync.disk import Disk, Unusable
from armarium_sync.identifiers import lasting_id, stamp_content
from armarium_sync.names import fold_path, lasting_id_of, lawful, layout_name, maker_of, number_name

ID = "0123456789abcdef0123456789abcdef"

TITLES = (
    "letter",
    'a/b\\c:d*e?f"g<h>i|j',
    "CON",
    "nul.txt",
    "COM1.png",
    "lpt¹",
    " ends with a dot. ",
    "...",
    "",
    "line\nbreak\ttab",
    "é" * 300,
    "e\u0301\u0323" * 200,
    "👩‍👩‍👧" * 60,
    "\u202egnp.exe",
    "x.jpg",
    "\ud800broken",
)


@pytest.mark.parametrize("title", TITLES)
def test_a_name_is_one_that_every_system_takes(title: str, tmp_path: Path) -> None:
    for name in (layout_name(title, ID, ".xml"), lawful(title), number_name(lawful(title), 12)):
        for form in ("NFC", "NFD"):
            spelled = unicodedata.normalize(form, name + ".loss.json")
            assert len(spelled.encode()) <= 255
            assert len(spelled.encode("utf-16-le")) <= 510
        assert not set(name) & set('/\\:*?"<>|')
        assert all(unicodedata.category(sign) != "Cc" for sign in name)
        assert name == name.rstrip(" .")
        assert name
        assert name.split(".")[0].upper() not in {"CON", "NUL", "COM1", "LPT¹"}
        (tmp_path / name).write_text("x")
    assert lasting_id_of(layout_name(title, ID, ".xml")) == ID
    assert not unicodedata.combining(lawful(title)[0])


def test_two_spellings_of_one_name_are_one() -> None:
    assert fold_path("Mañana.XML") == fold_path(unicodedata.normalize("NFD", "mañana.xml"))
    assert fold_path("a.xml") != fold_path("b.xml")


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("a.sync-conflict-20190430-113222-A2VQXYZ.xml", "Syncthing"),
        (".syncthing.a.xml.tmp", "Syncthing"),
        ("~syncthing~a.xml.tmp", "Syncthing"),
        (".stignore", "Syncthing"),
        ("a (Ana's conflicted copy 2026-01-02).xml", "Dropbox"),
        ("a (conflicted copy 2026-01-02 103000).xml", "Dropbox"),
        (".dropbox", "Dropbox"),
        (".a.xml.~5f3c", "Nextcloud"),
        ("._sync_1a2b.db", "Nextcloud"),
        (".sync_1a2b.db-wal", "Nextcloud"),
        ("a.xml.part", "being written"),
        ("a.xml~", "being written"),
        (".armarium-x-new-1.tmp", "engine"),
        ("a letter.xml", None),
        ("conflicted.xml", None),
        ("a (copy).xml", None),
    ],
)
def test_who_made_a_name(name: str, maker: str | None) -> None:
    found_maker = maker_of(name)
    assert (found_maker is None) if maker is None else (found_maker is not None and maker in found_maker)


@pytest.mark.parametrize("driver", [PageXml(), Alto(), Tei()], ids=lambda one: one.name)
def test_a_file_names_its_source_in_its_own_place_and_obeys_its_schema(driver: Any) -> None:
    page = PageXml().read(PAGE.format(words="Dear Sir").encode(), ReadContext("a.xml"))[0]
    content = driver.write(page, WriteContext(created="2026-01-02T03:04:05.678Z")).content
    about = {
        "service-source": ID,
        "service-pass": "p",
        "service-order": "as written",
        "service-reading-kind": "x",
    }
    data = stamp_content(content, driver.name, about)
    assert driver.validate(data.decode()) == []
    assert lasting_id(data, "renamed.xml") == ID
    again = stamp_content(data.decode(), driver.name, {**about, "service-source": "f" * 32})
    assert again.count(b"service-source") == 1
    assert lasting_id(again, "renamed.xml") == "f" * 32
    # Read in and written again it still names one source.
    (back,) = driver.read(data, ReadContext("a.xml"))
    rewritten = driver.write(back, WriteContext(created="2026-01-02T03:04:05.678Z")).content
    third = stamp_content(rewritten, driver.name, about)
    assert third.count(b"service-source") == 1
    assert driver.validate(third.decode()) == []


def test_an_id_is_found_whatever_stands_around_it() -> None:
    assert (
        lasting_id(f'<MetadataItem value="{ID}" type="other" name="service-source"/>'.encode(), "a.xml") == ID
    )
    assert lasting_id(b"\xff\xfe no text", f"a--{ID}.xml") == ID
    assert lasting_id(b"service-source " + b"a" * 40, "a.xml") is None


def ours(*digests: str) -> Any:
    return lambda digest: digest in digests


def test_a_file_that_changes_in_the_very_moment_of_the_write_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(str(tmp_path), "x")
    place = tmp_path / "a.xml"
    disk.write("a.xml", b"one", ours())
    digest = disk.digest("a.xml") or ""
    real = disk_module.exchange

    def meanwhile(one: Path, other: Path) -> bool:
        if place.read_bytes() == b"one":
            place.write_bytes(b"somebody's")
        return real(one, other)

    monkeypatch.setattr(disk_module, "exchange", meanwhile)
    with pytest.raises(Unusable, match="very moment"):
        disk.write("a.xml", b"two", ours(digest))
    assert place.read_bytes() == b"somebody's"
    assert [path.name for path in tmp_path.iterdir()] == ["a.xml"]


def test_a_file_that_comes_to_lie_there_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(str(tmp_path), "x")
    monkeypatch.setattr(disk_module, "flush", lambda descriptor: (tmp_path / "a.xml").write_bytes(b"mine"))
    with pytest.raises(Unusable, match="was put there"):
        disk.write("a.xml", b"two", ours())
    assert (tmp_path / "a.xml").read_bytes() == b"mine"


def test_a_read_only_file_and_ways_through_links_are_left_alone(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), "x")
    disk.write("a.xml", b"one", ours())
    os.chmod(tmp_path / "a.xml", 0o444)
    with pytest.raises(Unusable, match="read-only"):
        disk.write("a.xml", b"two", ours(disk.digest("a.xml") or ""))
    (tmp_path / "link").symlink_to("/tmp")
    for path in ("link/x.xml", "../x.xml", "/x.xml", "", "a//b", "a\0b"):
        with pytest.raises(Unusable):
            disk.write(path, b"x", ours())
    (tmp_path / "file.xml").symlink_to(tmp_path / "a.xml")
    with pytest.raises(Unusable):
        disk.write("file.xml", b"two", lambda digest: True)
    assert (tmp_path / "a.xml").read_bytes() == b"one"


def test_without_help_of_the_kernel_nothing_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("armarium.store.swapping._renamer", lambda: None)
    disk = Disk(str(tmp_path), "x")
    disk.write("a.xml", b"one", ours())
    disk.write("a.xml", b"two", ours(disk.digest("a.xml") or ""))
    assert (tmp_path / "a.xml").read_bytes() == b"two"
    (tmp_path / "b.xml").write_bytes(b"mine")
    with pytest.raises(Unusable, match="another file where it would go"):
        disk.move("a.xml", "b.xml")
    disk.move("a.xml", "sub/a.xml")
    assert (tmp_path / "sub" / "a.xml").read_bytes() == b"two"
    assert (tmp_path / "b.xml").read_bytes() == b"mine"


def test_what_a_kill_left_is_removed_unless_it_is_somebodys(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), "x")
    for name, data in (("new", b"half"), ("swap", b"ours"), ("swap", b"theirs")):
        (tmp_path / f".armarium-x-{name}-{data.decode()}.tmp").write_bytes(data)
    known = disk.digest(".armarium-x-swap-ours.tmp") or ""
    whys = [disk.clear(path.name, ours(known)) for path in sorted(tmp_path.iterdir())]
    assert [why is None for why in whys] == [True, True, False]
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"theirs"]
