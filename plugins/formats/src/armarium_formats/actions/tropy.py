"""Takes in what Tropy exported: items as groups of pages, with metadata, tags, notes, selections and transcriptions."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import orjson
from sqlalchemy import func, select

from armarium.api import (
    ActionContext,
    Engine,
    Example,
    Invalid,
    Library,
    Route,
    ServiceError,
    action,
    new_id,
)
from armarium_documents.api import (
    annotation_table,
    clean_name,
    documents,
    primary_row,
    require_parent,
    sources_folder,
)
from armarium_formats.actions.samples import SAMPLE_TROPY, sample_picture
from armarium_formats.driver import Format
from armarium_formats.keeping import keep_models
from armarium_formats.page_model import PageModel, PageSegment, PageText
from armarium_formats.queries.exchange import pass_of_file
from armarium_formats.schemas.tropy import ImportTropy, TropyImported
from armarium_formats.tropy.photos import key_of, take_photo
from armarium_formats.tropy.reader import LOOKS, TropyNote, TropyPart, read_tropy

MAX_BYTES = 256 * 1024 * 1024
WHOLE = [0.0, 0.0, 1.0, 1.0]

_WHY = {
    "a turned or adjusted view of a photo": "pictures are shown as they are; the numbers are kept with the page",
    "a turned selection": "places are upright boxes; the angle is kept with the note",
    "a further list of an item": "a document is in one folder; the list is kept and written back",
    "an earlier transcription": "the newest of a photo or selection is taken",
    "the layout of a selection's transcription": "its coordinates are those of the selection; its text is taken",
    "formatting of a note": "notes are plain text; what Tropy wrote is kept and written back until the note changes",
    "a value that was changed here": "what was changed here since the last import stays",
}


class TropyExport(Format):
    """Transcriptions of an export; they are read with it, so this is not among the drivers."""

    name = "tropy"
    label = "Tropy"


def _example(ex: Example) -> dict[str, Any]:
    ex.file("tropy/1.png", sample_picture())
    return {"path": str(ex.file("tropy/items.json", SAMPLE_TROPY.encode()))}


def _read_before(engine: Engine, library: Library | None, p: ImportTropy) -> None:
    assert library is not None
    file = p.path.real
    if not file.is_file() or file.stat().st_size > MAX_BYTES:
        raise Invalid("Name the JSON-LD file that Tropy exported, of at most 256 MiB.", code="not_tropy")
    root = file.parent.resolve()
    items = read_tropy(file.read_bytes(), file.name)
    nodes: dict[int, dict[str, Any]] = {}
    refused: list[dict[str, str]] = []
    for photo in (photo for item in items for photo in item.parts):
        try:
            nodes[id(photo)] = take_photo(engine, library, photo, root)
        except Invalid as refusal:
            refused.append({"file": str(photo.own.get("path", ""))[:4096], "why": refusal.detail})
    p.hand_over((items, nodes, refused))


@action(
    "ingest.tropy",
    params=ImportTropy,
    result=TropyImported,
    summary="Import the items that Tropy exported as JSON-LD, with their photos, notes, tags and transcriptions.",
    route=Route("POST", "/api/ingest/tropy"),
    words="Imported items of Tropy into {|Sources}",
    example=_example,
    prepare=_read_before,
)
def import_tropy(ctx: ActionContext, p: ImportTropy) -> dict[str, Any]:
    """Import in one step. What an earlier import brought is recognised by its photos, or by its title without any, and
    updated where nobody changed it here. Invalid for a file that is not Tropy's; NotFound for the parent.
    """
    if p.groundwork is None:
        _read_before(ctx.engine, ctx.project, p)
    parent = (
        sources_folder(ctx.conn) if p.parent_id is None else require_parent(ctx.conn, p.parent_id, "folder")
    )
    assert parent is not None
    items, nodes, refused = p.groundwork
    work = _Import(ctx, parent.id, nodes)
    for item in items:
        work.take(item)
    ctx.target(parent.id, *work.ids[:100])
    losses = [
        {"what": what, "count": count, "why": _WHY.get(what, what)}
        for what, count in sorted((+work.losses).items())
    ]
    counts = {name: work.counts[name] for name in ("new", "changed", "equal", "pages", "notes", "passes")}
    return {"items": len(items), **counts, "document_ids": work.ids, "refused": refused, "losses": losses}


class _Import:
    def __init__(self, ctx: ActionContext, parent_id: str, nodes: dict[int, dict[str, Any]]) -> None:
        self.ctx = ctx
        self.parent_id = parent_id
        self.nodes = nodes
        self.ids: list[str] = []
        self.losses: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.folders: dict[tuple[str, ...], str] = {(): parent_id}
        d = documents.c
        kept = func.json_extract(d.source_metadata, "$.tropy.key")
        rows = ctx.conn.execute(
            select(d.id, d.parent_id, d.doc_type, kept).where(d.deleted_at.is_(None), kept.is_not(None))
        )
        self.groups: dict[str, str] = {}
        self.pages: dict[str, list[tuple[str, str]]] = {}
        """Pages of earlier imports and their groups, by the key of the photo."""
        for row in rows:
            if row[2] == "group":
                self.groups[row[3]] = row[0]
            else:
                self.pages.setdefault(row[3], []).append((row[0], row[1]))

    def take(self, item: TropyPart) -> None:
        before = self.counts["changes"]
        found = self._group_there(item)
        group_id = found or self._new_group(item)
        self.ids.append(group_id)
        self._describe(group_id, item, self._key(item))
        wanted: list[tuple[str, TropyPart]] = []
        fresh: list[dict[str, Any]] = []
        for photo in item.parts:
            there = next(
                (page for page, group in self.pages.get(key_of(photo), ()) if group == group_id), None
            )
            if there is not None:
                wanted.append((there, photo))
            elif (node := self.nodes.get(id(photo))) is not None:
                identity = new_id()
                self.pages.setdefault(key_of(photo), []).append((identity, group_id))
                fresh.append({**node, "id": identity, "parent_id": group_id})
                wanted.append((identity, photo))
        if fresh:
            self.ctx.run("document.add_files", {"nodes": fresh})
            self.counts["pages"] += len(fresh)
            self.counts["changes"] += 1
        for page_id, photo in wanted:
            self._describe(page_id, photo, key_of(photo))
            self._annotate(page_id, photo)
            self._transcribe(page_id, photo)
        changed = self.counts["changes"] > before
        self.counts["new" if found is None else "changed" if changed else "equal"] += 1

    def _key(self, item: TropyPart) -> str:
        return str(item.own.get("@id") or item.title or "untitled")

    def _group_there(self, item: TropyPart) -> str | None:
        for photo in item.parts:
            for _, group in self.pages.get(key_of(photo), ()):
                if group not in self.ids:
                    return group
        found = None if item.parts and "@id" not in item.own else self.groups.get(self._key(item))
        return None if found in self.ids else found

    def _new_group(self, item: TropyPart) -> str:
        try:
            name = clean_name(item.title[:200])
        except ValueError:
            name = "Untitled"
        self.losses["a further list of an item"] += max(0, len(item.lists) - 1)
        path = item.lists[0] if item.lists else ()
        made = self.ctx.run(
            "document.create", {"name": name, "doc_type": "group", "parent_id": self._folder(path)}
        )
        return str(made["id"])

    def _folder(self, path: tuple[str, ...]) -> str:
        if path not in self.folders:
            above, d = self._folder(path[:-1]), documents.c
            where = (d.parent_id == above, d.name == path[-1], d.doc_type == "folder", d.deleted_at.is_(None))
            there = self.ctx.conn.execute(select(d.id).where(*where)).scalar()
            self.folders[path] = (
                there or self.ctx.run("document.create", {"name": path[-1], "parent_id": above})["id"]
            )
        return self.folders[path]

    def _describe(self, document_id: str, part: TropyPart, key: str) -> None:
        """Write the metadata as attributes; a value that somebody changed here since the last import stays."""
        d = documents.c
        attributes, kept = self.ctx.conn.execute(
            select(d.attributes, d.source_metadata).where(d.id == document_id)
        ).one()
        stated, properties = _attributes(part)
        earlier = kept.get("tropy", {}).get("attributes", {})
        merged = dict(attributes)
        for name, value in stated.items():
            if name not in attributes or attributes[name] in (earlier.get(name), value):
                merged[name] = value
            elif value != earlier.get(name):
                self.losses["a value that was changed here"] += 1
        for name in earlier.keys() - stated.keys():
            if merged.get(name) == earlier[name]:
                del merged[name]
        looks = {name: part.own[name] for name in LOOKS if part.own.get(name) not in (None, 0, False)}
        self.losses["a turned or adjusted view of a photo"] += bool(looks)
        tropy = {
            "key": key,
            "attributes": stated,
            "properties": properties,
            **({"template": part.own["template"]} if "template" in part.own else {}),
            **(
                {"lists": ["/".join(step.replace("/", "\\/") for step in one) for one in part.lists]}
                if part.lists
                else {}
            ),
            **({"shown": looks} if looks else {}),
        }
        if merged != attributes or kept.get("tropy") != tropy:
            changes = {"attributes": merged, "source_metadata": {**kept, "tropy": tropy}}
            self.ctx.run("document.update", {"document_id": document_id, **changes})
            self.counts["changes"] += 1

    def _annotate(self, page_id: str, photo: TropyPart) -> None:
        a = annotation_table.c
        rows = self.ctx.conn.execute(
            select(a.id, a.text, a.anchor, a.metadata).where(a.document_id == page_id)
        )
        there = {row[3]["tropy"]["place"]: row for row in rows if "tropy" in row[3]}
        wanted: list[tuple[str, TropyPart | None, TropyNote | None]] = [
            (f"photo/{number}", None, note) for number, note in enumerate(photo.notes)
        ]
        for index, marked in enumerate(photo.parts):
            self.losses["a turned selection"] += bool(marked.number("angle"))
            notes: list[TropyNote | None] = [*marked.notes] or [None]
            wanted += [(f"{index}/{number}", marked, note) for number, note in enumerate(notes)]
        for place, selection, note in wanted:
            rect = WHOLE if selection is None else self._rect(page_id, photo, selection)
            tropy: dict[str, Any] = {"place": place}
            if selection is not None:
                stated, properties = _attributes(selection)
                tropy |= {"attributes": stated, "properties": properties}
                tropy |= {"angle": angle} if (angle := selection.number("angle")) else {}
            if note is not None:
                tropy |= {"text": note.text, "html": note.html, "language": note.language}
                self.losses["formatting of a note"] += "<" in note.html.replace("<p>", "").replace("</p>", "")
            title = "" if selection is None else selection.title
            text = note.text if note is not None else title or None
            given = {
                "kind": "note" if text else "highlight",
                "text": text,
                "anchor": {"rect": rect},
                "metadata": {"tropy": tropy},
            }
            known = there.get(place)
            if known is None:
                self.ctx.run("annotation.create", {"document_id": page_id, "anchor_kind": "bbox", **given})
            elif known[3]["tropy"] == tropy and known[2]["rect"] == rect:
                continue
            elif known[1] != known[3]["tropy"].get("text", title or None):
                self.losses["a value that was changed here"] += 1
                continue
            else:
                self.ctx.run("annotation.update", {"annotation_id": known[0], **given})
            self.counts["notes"] += 1
            self.counts["changes"] += 1

    def _rect(self, page_id: str, photo: TropyPart, selection: TropyPart) -> list[float]:
        """Return where a selection is, in fractions of the picture; all of it if that is nowhere on it."""
        row = primary_row(self.ctx.conn, page_id)
        width = photo.number("width") or row.pixel_width
        height = photo.number("height") or row.pixel_height
        x, y = max(0.0, selection.number("x") / width), max(0.0, selection.number("y") / height)
        right = min(1.0, (selection.number("x") + selection.number("width")) / width)
        bottom = min(1.0, (selection.number("y") + selection.number("height")) / height)
        return [x, y, right - x, bottom - y] if right > x and bottom > y else WHOLE

    def _transcribe(self, page_id: str, photo: TropyPart) -> None:
        """Write the transcriptions as passes; one that is there already, from the same words, is not written again."""
        for part in (photo, *photo.parts):
            self.losses["an earlier transcription"] += part.further_transcriptions
        name = str(photo.own.get("filename") or "photo")[:200]
        if photo.alto:
            data = photo.alto.encode()
            if pass_of_file(self.ctx.conn, page_id, hashlib.sha256(data).hexdigest()) is None:
                given = {
                    "document_id": page_id,
                    "file": photo.alto,
                    "filename": f"{name}.xml",
                    "format": "alto",
                }
                try:
                    with self.ctx.conn.begin_nested():
                        self.ctx.run("format.import", given)
                    self._count_pass()
                except ServiceError as refusal:
                    self.losses[f"the layout of a transcription: {refusal.detail}"] += 1
        texts = [([0.0, 0.0, 1.0, 1.0], photo.text)] if photo.text.strip() and not photo.alto else []
        for selection in photo.parts:
            self.losses["the layout of a selection's transcription"] += bool(selection.alto)
            if selection.text.strip():
                texts.append((self._rect(page_id, photo, selection), selection.text))
        if not texts:
            return
        data = orjson.dumps(texts)
        digest = hashlib.sha256(data).hexdigest()
        if pass_of_file(self.ctx.conn, page_id, digest) is not None:
            return
        self.ctx.project.objects.put_bytes(data)
        row = primary_row(self.ctx.conn, page_id)
        page = _as_page(texts, (row.pixel_width, row.pixel_height))
        keep_models(self.ctx, [(page_id, page)], TropyExport(), f"{name}.json", digest)
        self._count_pass()

    def _count_pass(self) -> None:
        self.counts["passes"] += 1
        self.counts["changes"] += 1


def _attributes(part: TropyPart) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metadata by the last word of each property's address, and for each name that address and its type."""
    stated: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for address, values in part.metadata.items():
        short = address.replace("#", "/").rstrip("/").rpartition("/")[2]
        name = short if short and short not in stated and short != "tags" else address
        found = [one.value for one in values]
        stated[name] = found[0] if len(found) == 1 else found
        properties[name] = {"uri": address, "type": values[0].type}
    if part.tags:
        stated["tags"] = part.tags
    return stated, properties


def _as_page(texts: list[tuple[list[float], str]], size: tuple[int, int]) -> PageModel:
    page = PageModel(*size)
    for number, (rect, text) in enumerate(texts, 1):
        x, y, w, h = (one * side for one, side in zip(rect, (*size, *size), strict=True))
        lines = [
            PageSegment(f"line-{number}-{place}", "line", texts=[PageText(line.strip())])
            for place, line in enumerate(filter(str.strip, text.splitlines()), 1)
        ]
        corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)] if rect != WHOLE else []
        page.segments.append(PageSegment(f"text-{number}", "region", points=corners, children=lines))
    return page
