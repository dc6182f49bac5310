"""A site that the engine builds itself, with Node in a runtime: refused without it, whole or not at all, over earlier builds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from exports_desk import Desk
from test_site import site

from armarium.api import Conflict, Engine, ServiceError, Unavailable
from armarium_exports.jobs import PUBLISH
from armarium_exports.site import building, writing
from armarium_exports.site.building import SITE_BUILDER


def test_without_the_runtime_it_is_refused_and_nothing_is_written(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    answer = site(desk, 409, build=True)
    assert answer["code"] == "runtime_missing"
    assert "armarium runtime install site-builder" in answer["detail"]
    assert list(desk.folder.glob("*site*")) == []
    with pytest.raises(ServiceError, match="armarium runtime install site-builder"):
        PUBLISH.find_placement(
            desk.engine, desk.library, PUBLISH.parse({"folder": str(desk.folder / "site"), "build": True})
        )


def test_an_earlier_build_is_named_where_it_is_not_built_anew(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    assert site(desk)["earlier_build"] is None
    (desk.folder / "site" / "_site").mkdir()
    (desk.folder / "site" / "_site" / "index.html").write_text("Dear Sir")
    answer = site(desk, overwrite=True)
    assert answer["built"] is None
    assert answer["earlier_build"] == str(desk.folder / "site" / "_site")


@pytest.fixture
def build_by_copy(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A builder that copies its input, without Node; it fails while the list says so."""
    fails = [False]

    def build(_engine: Engine, project: Path) -> None:
        (project / "_site").mkdir()
        (project / "_site" / "pages.json").write_bytes((project / "content/_data/pages.json").read_bytes())
        if fails[0]:
            raise Unavailable("The site could not be built. It said: no", code="runtime_failed")

    monkeypatch.setattr(writing, "require_builder", lambda _engine: None)
    monkeypatch.setattr(writing, "build_site", build)
    return fails


def test_a_build_takes_the_place_of_an_earlier_one_or_leaves_it(
    desk: Desk, build_by_copy: list[bool]
) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    built = desk.folder / "site" / "_site"
    assert site(desk, build=True)["built"] == str(built)
    assert "Dear Sir" in (built / "pages.json").read_text()
    (built / "old.html").write_text("no page any more")
    (desk.folder / "site" / "my notes.txt").write_text("mine")
    desk.write(page, ["Dear Madam"])
    build_by_copy[0] = True
    site(desk, 503, build=True, overwrite=True)
    assert "Dear Sir" in (built / "pages.json").read_text()
    assert "Dear Sir" in (desk.folder / "site" / "content/_data/pages.json").read_text()
    build_by_copy[0] = False
    assert site(desk, build=True, overwrite=True)["earlier_build"] is None
    assert "Dear Madam" in (built / "pages.json").read_text()
    assert not (built / "old.html").exists()
    assert (desk.folder / "site" / "my notes.txt").read_text() == "mine"
    assert sorted(entry.name for entry in desk.folder.iterdir() if entry.name.startswith(".")) == []


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_whole_build_is_there_when_the_engine_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    """Killed after the first change of a name: the earlier build is there, or the new one; at worst both lie beside it."""
    fresh, place = tmp_path / "fresh", tmp_path / "site"
    for folder, words in ((fresh, "new"), (place, "earlier")):
        (folder / "_site").mkdir(parents=True)
        (folder / "_site" / "index.html").write_text(words)
    if not exchanges:
        monkeypatch.setattr("armarium.store.swapping._renamer", lambda: None)

    def end_here(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(
            building.shutil if exchanges else building.os, "rmtree" if exchanges else "rename", end_here
        )
        with pytest.raises(KeyboardInterrupt):
            building.bring_built(fresh, place)
    assert (place / "_site" / "index.html").read_text() == ("new" if exchanges else "earlier")
    if not exchanges:
        building.bring_built(fresh, place)
        assert (place / "_site" / "index.html").read_text() == "new"
        assert not (fresh / "_site").exists()


def test_a_link_in_place_of_the_build_is_replaced_and_not_followed(
    desk: Desk, build_by_copy: list[bool]
) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    site(desk)
    other = desk.folder / "other"
    other.mkdir()
    (other / "index.html").write_text("mine")
    (desk.folder / "site" / "_site").symlink_to(other, target_is_directory=True)
    site(desk, build=True, overwrite=True)
    assert [entry.name for entry in other.iterdir()] == ["index.html"]
    assert not (desk.folder / "site" / "_site").is_symlink()


@pytest.fixture
def builder(desk: Desk) -> Iterator[None]:
    """The runtime, fetched as a user fetches it."""
    try:
        desk.engine.runtimes.install(SITE_BUILDER.name)
    except (Conflict, Unavailable) as error:
        pytest.skip(f"The runtime of sites cannot be installed here, as without a network: {error.detail}")
    yield
    desk.engine.runtimes.remove(SITE_BUILDER.name)


@pytest.mark.slow
def test_the_engine_builds_the_site_with_node_from_its_runtime(
    desk: Desk, builder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = desk.page(desk.box("Letters {{ 7 * 7 }}"), "1.png", ["Dear <Sir>"], size=(1100, 1700))
    programs = desk.folder / "programs"
    programs.mkdir()
    for name in ("sh", "env"):
        (programs / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(programs))
    place = desk.folder / "site"
    answer = site(desk, build=True)
    built = Path(answer["built"])
    assert built == place / "_site"
    assert "Dear &lt;Sir&gt;" in (built / "pages" / f"{page}.html").read_text("utf-8")
    assert (built / "pagefind" / "pagefind.js").is_file()
    assert (built / "assets" / "openseadragon.min.js").is_file()
    assert (built / "iiif" / page / "0,0,512,512" / "512,512" / "0" / "default.jpg").is_file()
    assert not (place / "node_modules").exists()
    # Published again with less, by a step that can be taken back, nothing of the earlier pages stays.
    other_page = desk.page(desk.box("Bills"), "2.png", ["Owed"])
    desk.do("export.publish", {"folder": str(place), "page_ids": [other_page], "build": True})
    assert [entry.stem for entry in (built / "pages").iterdir()] == [other_page]
    monkeypatch.setattr(building, "_BUILD", "import sys; print('npm error no such page'); sys.exit(3)")
    refused = site(desk, 503, build=True, overwrite=True)
    assert "no such page" in refused["detail"]
    assert [entry.stem for entry in (built / "pages").iterdir()] == [other_page]
