"""Writes pages for a receiver: pictures, layout files, METS, and a report of what is lost."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import select

from armarium.api import Engine, Library, Principal, ServiceError, find_withheld, now, parse_xml, plain_name
from armarium_documents.api import documents, page_image, pages_under
from armarium_exports.errors import nothing_to_export
from armarium_exports.pages import split_with_text
from armarium_exports.places import find_free_stem, replaced_folder
from armarium_exports.receivers.checking import check_written
from armarium_exports.receivers.items import write_items
from armarium_exports.receivers.mets import ALTO_TYPE, PAGE_TYPE, MetsPage, mets_of
from armarium_exports.receivers.profiles import Profile, profile_named
from armarium_exports.records import ReceiverParams
from armarium_exports.selection import as_answered, title_of
from armarium_formats.api import export_page
from armarium_source_model.api import join_made

MANIFEST = "armarium-export.json"
_ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/tiff": ".tif", "image/webp": ".webp"}


@dataclass
class WritablePage:
    """A page that can be written."""

    document_id: str
    stem: str
    label: str
    content: bytes
    picture: Path
    ending: str
    mime_type: str
    losses: list[dict[str, Any]] = field(default_factory=list)
    made: list[dict[str, Any]] = field(default_factory=list)
    text: str = ""
    """Its plain text, for a program that takes texts."""


@dataclass
class Pages:
    """The pages of a scope in the form that a receiver gets."""

    prepared: list[WritablePage] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)
    withheld: list[dict[str, str]] = field(default_factory=list)

    def report(self, profile: Profile, problems: list[str]) -> dict[str, Any]:
        """Return what is lost and left out."""
        return {
            "receiver": profile.name,
            "pages": len(self.prepared),
            "made": join_made(page.made for page in self.prepared),
            "losses": [
                {"document_id": page.document_id, "filename": f"{page.stem}.xml", "losses": page.losses}
                for page in self.prepared
                if page.losses
            ],
            "left_out": self.left_out,
            "withheld": self.withheld,
            "problems": problems,
        }


def report_for(
    engine: Engine, library: Library, principal: Principal, receiver: str, scope_ids: list[str]
) -> dict[str, Any]:
    """Return what would be written and what would be lost, without writing anything."""
    profile = profile_named(receiver)
    pages = _prepare_pages(engine, library, principal, profile, scope_ids)
    return pages.report(profile, [])


def write_for(engine: Engine, library: Library, principal: Principal, p: ReceiverParams) -> dict[str, Any]:
    """Write the pages for the receiver; Invalid if none can be written."""
    profile = profile_named(p.receiver)
    place = p.output_path.real
    with replaced_folder(place, MANIFEST, overwrite=p.overwrite) as fresh:
        pages = _prepare_pages(engine, library, principal, profile, p.scope_ids)
        if not pages.prepared:
            raise nothing_to_export()
        _write(profile, fresh, pages, library, p.scope_ids)
        problems = check_written(profile, fresh)
        paths = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
        report = pages.report(profile, problems)
        manifest = {**report, "created_at": now(), "files": [*paths, MANIFEST]}
        (fresh / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    return {**report, "output_path": str(place), "files": [*paths, MANIFEST]}


def _prepare_pages(
    engine: Engine, library: Library, principal: Principal, profile: Profile, scope_ids: list[str]
) -> Pages:
    pages = Pages()
    stems: set[str] = set()
    document = documents.c
    with library.db.read() as conn:
        ids = pages_under(conn, scope_ids)
    barred = find_withheld(library, principal, ids, "export")
    with library.db.read() as conn:
        pages.left_out += split_with_text(conn, ids, barred)
    pages.withheld = as_answered(barred)
    for page_id in ids:
        if page_id in barred:
            continue
        with library.db.read() as conn:
            name, label = conn.execute(
                select(document.name, document.page_label).where(document.id == page_id)
            ).one()
            try:
                picture = page_image(library, conn, page_id)
            except ServiceError as refusal:
                pages.left_out.append({"document_id": page_id, "why": refusal.detail})
                continue
        try:
            exported = export_page(engine, library, page_id, profile.format)
            text = export_page(engine, library, page_id, "plain-text")["content"] if profile.table else ""
        except ServiceError as refusal:
            if not profile.table or refusal.code != "no_pass":
                pages.left_out.append({"document_id": page_id, "why": refusal.detail})
                continue
            # Such a program takes pictures without a text.
            exported, text = {"content": "<alto/>", "losses": [], "choices": {"made": []}}, ""
        stem = find_free_stem(plain_name(Path(name).stem or name), stems, "{}-{}")
        ending = _ENDINGS.get(picture.mime_type, Path(name).suffix or ".img")
        path = f"{stem}{ending}" if profile.image_path == "name" else f"{profile.images}/{stem}{ending}"
        content, more = (
            (b"", [])
            if profile.format == "plain-text"
            else _named_picture(exported["content"], profile, path)
        )
        # Where there is a table, annotations are its own affair: it has them, or says so.
        losses = [
            loss for loss in exported["losses"] if not (profile.table and loss["what"] == "annotations")
        ]
        pages.prepared.append(
            WritablePage(
                page_id,
                stem,
                label or name,
                content,
                picture.path,
                ending,
                picture.mime_type,
                [*losses, *more],
                exported["choices"]["made"],
                text,
            )
        )
    return pages


def _named_picture(content: str, profile: Profile, path: str) -> tuple[bytes, list[dict[str, Any]]]:
    """Return the layout file with its picture named *path*, and what the receiver will ignore."""
    from lxml import etree

    root = parse_xml(content.encode(), name="a page")
    losses: list[dict[str, Any]] = []
    if profile.format == "alto":
        for file_name in root.iter("{*}fileName"):
            file_name.text = path
    else:
        for page in root.iter("{*}Page"):
            page.set("imageFilename", path)
        if profile.states_order:
            state_order(root)
        bare = [element for element in root.iter("{*}TextLine") if element.find("{*}Baseline") is None]
        if profile.needs_baselines and bare:
            why = f"{profile.label} ignores lines without a baseline"
            losses.append({"what": "lines without a baseline", "count": len(bare), "why": why})
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True), losses


_ORDER = re.compile(r"readingOrder\s*\{[^{}]*\}\s*")


def state_order(root: Any) -> None:
    """Write into the `custom` of each region, line and word its place among its siblings, if one of them lacks it."""
    refs = [
        element.get("regionRef")
        for element in root.iter("{*}RegionRefIndexed", "{*}RegionRef", "{*}OrderedGroupIndexed")
    ]
    ranks = {ref: rank for rank, ref in enumerate(refs)}
    for parent in root.iter():
        siblings: dict[str, list[Any]] = {}
        for child in parent:
            kind = str(child.tag).rpartition("}")[2]
            if kind in ("TextLine", "Word") or kind.endswith("Region"):
                siblings.setdefault("Region" if kind.endswith("Region") else kind, []).append(child)
        for members in siblings.values():
            if all(_ORDER.search(member.get("custom") or "") for member in members):
                continue
            members.sort(key=lambda member: ranks.get(member.get("id"), len(ranks)))
            for index, member in enumerate(members):
                custom = _ORDER.sub("", member.get("custom") or "").strip()
                member.set("custom", f"readingOrder {{index:{index};}} {custom}".strip())


def _write(profile: Profile, fresh: Path, pages: Pages, library: Library, scope_ids: list[str]) -> None:
    images, layouts = fresh / profile.images, fresh / profile.layouts
    images.mkdir(exist_ok=True)
    layouts.mkdir(exist_ok=True)
    for page in pages.prepared:
        shutil.copyfile(page.picture, images / f"{page.stem}{page.ending}")
    if profile.table:
        (fresh / profile.table).write_bytes(write_items(library, pages.prepared, profile))
        return
    for page in pages.prepared:
        (layouts / f"{page.stem}.xml").write_bytes(page.content)
    if profile.zipped:
        with zipfile.ZipFile(fresh / "layouts.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for page in pages.prepared:
                archive.writestr(f"{page.stem}.xml", page.content)
    if profile.mets:
        with library.db.read() as conn:
            title = title_of(conn, library, scope_ids)
        (fresh / "mets.xml").write_bytes(
            mets_of(title, scope_ids[0], list(_mets_pages(profile, pages)), viewer=profile.mets == "viewer")
        )


def _mets_pages(profile: Profile, pages: Pages) -> Iterator[MetsPage]:
    kind = ALTO_TYPE if profile.format == "alto" else PAGE_TYPE
    for number, page in enumerate(pages.prepared, 1):
        yield MetsPage(
            number,
            page.label,
            (
                (profile.images, f"{profile.images}/{page.stem}{page.ending}", page.mime_type),
                (profile.layouts, f"{profile.layouts}/{page.stem}.xml", kind),
            ),
        )
