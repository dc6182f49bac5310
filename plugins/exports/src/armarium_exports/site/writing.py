"""Writes the Eleventy project of a site: its templates, its data, the pictures of its pages, and fonts for
letters that a reader's machine may lack.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, ServiceError, carried_font, fonts_for, is_unusual, now
from armarium_exports.pages import split_with_text
from armarium_exports.places import clash_refused, listed_before, require_parent, settle, whole_folder
from armarium_exports.records import PublishParams, SiteParams
from armarium_exports.selection import select_documents, title_of
from armarium_exports.site.building import BUILT, bring_built, build_site, require_builder, restore_built
from armarium_exports.site.content import Content, as_json, content_of, page_data
from armarium_exports.site.tiles import SHOWN, THUMBNAIL, TILE, Pyramid, write_tiles
from armarium_iiif.api import Picture
from armarium_source_model.api import LineMaker, sum_makers, words_of_sum

MANIFEST = "armarium-site.json"


def write_site(engine: Engine, library: Library, principal: Principal, p: SiteParams) -> dict[str, Any]:
    """Write an Eleventy 3 project at the given place, and build it on p."""
    return _write(engine, library, principal, p, p.output_path.real, p.site_title)


def publish(engine: Engine, library: Library, principal: Principal, p: PublishParams) -> dict[str, Any]:
    """Publish a site of certain pages, replacing an earlier one in the same folder."""
    whole = SiteParams(output_path=p.folder, overwrite=True, build=p.build)
    return _write(
        engine, library, principal, whole, p.folder.real, p.site_title or library.name, page_ids=p.page_ids
    )


def _write(
    engine: Engine,
    library: Library,
    principal: Principal,
    p: SiteParams,
    place: Path,
    title: str | None,
    page_ids: list[str] | None = None,
) -> dict[str, Any]:
    require_parent(place)
    restore_built(place)
    before = listed_before(place, MANIFEST, overwrite=p.overwrite)
    if p.build:
        require_builder(engine)
    with whole_folder(place) as fresh:
        _templates(fresh)
        with library.db.read() as conn:
            selection = select_documents(library, conn, principal, p.target_id, recursive=p.recursive)
            if page_ids is not None:
                selection = selection.only_pages(conn, page_ids)
            content = content_of(
                engine,
                conn,
                selection,
                p.target_id,
                recursive=p.recursive,
                include_unreviewed=p.include_unreviewed,
            )
            split = split_with_text(conn, content.page_ids, selection.withheld)
            assets, makers = _pages(engine, library, conn, fresh, content)
            title = title or title_of(conn, library, [p.target_id] if p.target_id else [])
        _data(fresh, content, title, makers)
        add_fonts(fresh)
        paths = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
        # The folder is published: it does not name what was left out of it.
        manifest = {"title": title, "created_at": now(), "files": paths}
        (fresh / MANIFEST).write_bytes(orjson.dumps(manifest))
        clash_refused(fresh, place, before | {MANIFEST})
        if p.build:
            build_site(engine, fresh)
            bring_built(fresh, place)
        undeleted = settle(fresh, place, before, MANIFEST)
    built = place / BUILT
    return {
        "output_path": str(place),
        "withheld": selection.omissions,
        "document_count": len(content.page_ids),
        "collection_count": len(content.folders),
        "files": [*(name for name in paths if not name.startswith("static/iiif/")), MANIFEST],
        "assets": assets,
        "made": sum_makers(makers),
        "left_out": split,
        "left_behind": undeleted,
        "built": str(built) if p.build else None,
        "earlier_build": str(built) if not p.build and os.path.lexists(built) else None,
    }


def _templates(fresh: Path) -> None:
    def copy(source: Traversable, target: Path) -> None:
        target.mkdir(exist_ok=True)
        for entry in source.iterdir():
            if entry.is_dir():
                copy(entry, target / entry.name)
            else:
                (target / entry.name).write_bytes(entry.read_bytes())

    ours = files("armarium_exports.site")
    copy(ours / "template", fresh)
    (fresh / "package.json").write_bytes((ours / "builder" / "package.json").read_bytes())
    (fresh / "content" / "_data").mkdir(exist_ok=True)


def _pages(
    engine: Engine, library: Library, conn: Connection, fresh: Path, content: Content
) -> tuple[list[dict[str, Any]], list[LineMaker]]:
    """Write the data of the pages, one after another, and their pictures; return what was made of the pictures, and
    who stands behind the lines.
    """
    assets: list[dict[str, Any]] = []
    makers: list[LineMaker] = []
    links = _neighbours(content)
    entities_by_page: dict[str, list[dict[str, Any]]] = {}
    for entity in content.entities:
        for mention in entity["places"]:
            entities_by_page.setdefault(mention["document_id"], []).append(
                {"id": entity["id"], "name": entity["name"]}
            )
    statement_ids: dict[str, list[str]] = {}
    cited: dict[str, list[dict[str, Any]]] = {}
    for place in (place for entity in content.entities for place in entity["places"]):
        cited.setdefault(place["document_id"], []).append(place)
    for statement in content.statements:
        if statement["source"]:
            statement_ids.setdefault(statement["source"]["document_id"], []).append(statement["id"])
            cited.setdefault(statement["source"]["document_id"], []).append(statement["source"])
    with (fresh / "content" / "_data" / "pages.json").open("wb") as file:
        file.write(b"[")
        for number, page_id in enumerate(content.page_ids):
            page, of_lines, picture = page_data(engine, library, conn, page_id)
            makers += of_lines
            page |= links[page_id]
            page["picture"] = None if picture is None else _picture(picture, fresh, page_id, assets)
            page["entities"] = list(
                {entity["id"]: entity for entity in entities_by_page.get(page_id, ())}.values()
            )
            page["statements"] = statement_ids.get(page_id, [])
            lines = {line["id"] for block in page["blocks"] for line in block.get("lines", ())}
            for place in cited.get(page_id, ()):
                if place["segment_id"] not in lines:
                    # Another pass has become the working pass: the citation leads to the page.
                    place["segment_id"] = None
            file.write((b"," if number else b"") + b"\n" + as_json(page))
        file.write(b"\n]\n")
    return assets, makers


def _neighbours(content: Content) -> dict[str, dict[str, Any]]:
    """Return where each page is, and the pages before and after it in its folder."""
    neighbours: dict[str, dict[str, Any]] = {
        page_id: {"trail": [], "previous": None, "next": None} for page_id in content.page_ids
    }
    for folder in (*content.folders, {"pages": content.loose, "trail": []}):
        pages = folder["pages"]
        for number, page in enumerate(pages):
            neighbours[page["id"]] = {
                "trail": folder["trail"],
                "previous": pages[number - 1]["id"] if number else None,
                "next": pages[number + 1]["id"] if number + 1 < len(pages) else None,
            }
    return neighbours


def _picture(
    picture: Picture, fresh: Path, page_id: str, assets: list[dict[str, Any]]
) -> dict[str, Any] | None:
    folder = f"iiif/{page_id}"
    try:
        pyramid = write_tiles(picture, fresh / "static" / folder)
    except ServiceError:
        # A page with a damaged picture is shown with its text only.
        return None
    for path, kind in _name_tiles(pyramid, folder):
        assets.append({"path": f"static/{path}", "kind": kind, "document_id": page_id})
    large, small = pyramid.nearest(SHOWN), pyramid.nearest(THUMBNAIL)
    return {
        "width": pyramid.width,
        "height": pyramid.height,
        "folder": folder,
        "shown": {"src": _full_size_path(folder, large), "width": large[0], "height": large[1]},
        "thumbnail": {"src": _full_size_path(folder, small), "width": small[0], "height": small[1]},
        "sizes": [{"width": w, "height": h} for w, h in pyramid.sizes if max(w, h) <= SHOWN],
        "tiles": [{"width": TILE, "height": TILE, "scaleFactors": list(pyramid.factors)}],
    }


def _name_tiles(pyramid: Pyramid, folder: str) -> Iterator[tuple[str, str]]:
    yield folder, "tiles"
    yield _full_size_path(folder, pyramid.nearest(SHOWN)), "picture"
    yield _full_size_path(folder, pyramid.nearest(THUMBNAIL)), "thumbnail"


def _full_size_path(folder: str, size: tuple[int, int]) -> str:
    return f"{folder}/full/{size[0]},{size[1]}/0/default.jpg"


def _data(fresh: Path, content: Content, title: str, makers: list[LineMaker]) -> None:
    data = fresh / "content" / "_data"
    lists = sorted({entity["list"] for entity in content.entities})
    contents = {
        "site": {
            "title": title,
            "pages": len(content.page_ids),
            "lists": lists,
            "statements": len(content.statements),
            "made": words_of_sum(makers),
        },
        "folders": content.folders,
        "loose": content.loose,
        "entities": content.entities,
        "statements": content.statements,
        "lists": [
            {"id": name, "entities": [entity["id"] for entity in content.entities if entity["list"] == name]}
            for name in lists
        ],
    }
    for name, value in contents.items():
        (data / f"{name}.json").write_bytes(as_json(value))


def add_fonts(site: Path) -> None:
    """Add the fonts that a site's data require, with their licences, to its assets, and name them in its style."""
    letters: set[str] = set()
    for data in (site / "content" / "_data").glob("*.json"):
        letters.update(data.read_text(encoding="utf-8"))
    fonts = fonts_for(filter(is_unusual, letters))
    if not fonts:
        return
    assets = site / "static" / "assets"
    (assets / "fonts").mkdir()
    rules = []
    for font in fonts:
        (assets / "fonts" / font.file).write_bytes(carried_font(font, letters))
        (assets / "fonts" / font.licence_file).write_text(font.licence_text, encoding="utf-8")
        rules.append(f'@font-face {{ font-family: "{font.family}"; src: url("fonts/{font.file}"); }}')
    family_list = ", ".join(f'"{font.family}"' for font in fonts)
    rules.append(f'body {{ font-family: Georgia, "Times New Roman", {family_list}, serif; }}')
    with (assets / "site.css").open("a", encoding="utf-8") as style:
        style.write("\n".join(["", *rules, ""]))
