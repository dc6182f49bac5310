"""Writes what an export says of a document: metadata as attributes, notes as annotations, transcriptions as passes."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

import orjson
from sqlalchemy import select

from armarium.api import ActionContext, ServiceError
from armarium_documents.api import annotation_table, documents, primary_row
from armarium_formats.driver import Format
from armarium_formats.items.parts import TITLES, ItemExport, ItemNote, ItemPart
from armarium_formats.items.tropy import LOOKS
from armarium_formats.keeping import keep_models
from armarium_formats.page_model import PageModel, PageSegment, PageText
from armarium_formats.queries.exchange import pass_of_file
from armarium_source_model.api import corners_of

WHOLE = [0.0, 0.0, 1.0, 1.0]


class ItemTexts(Format):
    """Transcriptions of an export; they are read with it, so this is not among the drivers."""

    name = "tropy"
    label = "Tropy"


class ItemWriter:
    """Writes of one export within one step, which counts what it changes and what is lost."""

    def __init__(self, ctx: ActionContext, export: ItemExport) -> None:
        self.ctx = ctx
        self.program = export.program
        self.losses = Counter(export.losses)
        self.counts: Counter[str] = Counter()

    def says_something_of(self, document_id: str, part: ItemPart) -> bool:
        """Return whether *part* states anything but its type as the last import of the document did."""
        metadata = self.ctx.conn.execute(
            select(documents.c.source_metadata).where(documents.c.id == document_id)
        ).scalar_one()
        earlier = metadata.get(self.program, {}).get("attributes", {})
        imported, _ = _attributes(part)
        return any(name != "itemType" and earlier.get(name) == value for name, value in imported.items())

    def describe(self, document_id: str, part: ItemPart, key: str) -> None:
        """Write the metadata as attributes; a value that somebody changed here since the last import stays."""
        document = documents.c
        attributes, metadata = self.ctx.conn.execute(
            select(document.attributes, document.source_metadata).where(document.id == document_id)
        ).one()
        imported, properties = _attributes(part)
        earlier = metadata.get(self.program, {}).get("attributes", {})
        merged = dict(attributes)
        for name, value in imported.items():
            if name not in attributes or attributes[name] in (earlier.get(name), value):
                merged[name] = value
            elif value != earlier.get(name):
                self.losses["a value that was changed here"] += 1
        for name in earlier.keys() - imported.keys():
            if merged.get(name) == earlier[name]:
                del merged[name]
        looks = {name: part.own[name] for name in LOOKS if part.own.get(name) not in (None, 0, False)}
        self.losses["a turned or adjusted view of a photo"] += bool(looks)
        record = {
            "key": key,
            "attributes": imported,
            "properties": properties,
            **({"template": part.own["template"]} if "template" in part.own else {}),
            **(
                {"lists": ["/".join(step.replace("/", "\\/") for step in path) for path in part.lists]}
                if part.lists
                else {}
            ),
            **({"shown": looks} if looks else {}),
        }
        if merged != attributes or metadata.get(self.program) != record:
            changes = {"attributes": merged, "source_metadata": {**metadata, self.program: record}}
            self.ctx.run("document.update", {"document_id": document_id, **changes})
            self.counts["changes"] += 1

    def annotate(self, page_id: str, photo: ItemPart, selections: list[ItemPart]) -> None:
        annotation_columns = annotation_table.c
        rows = self.ctx.conn.execute(
            select(
                annotation_columns.id,
                annotation_columns.text,
                annotation_columns.anchor,
                annotation_columns.metadata,
            ).where(annotation_columns.document_id == page_id)
        )
        mark = self.program
        by_place = {row[3][mark]["place"]: row for row in rows if mark in row[3]}
        entries: list[tuple[str, ItemPart | None, ItemNote | None]] = [
            (f"photo/{number}", None, note) for number, note in enumerate(photo.notes)
        ]
        for index, marked in enumerate(selections):
            self.losses["a turned selection"] += bool(marked.number("angle"))
            notes: list[ItemNote | None] = [*marked.notes] or [None]
            entries += [(f"{index}/{number}", marked, note) for number, note in enumerate(notes)]
        for place, selection, note in entries:
            rect = WHOLE if selection is None else self._rect(page_id, photo, selection)
            record: dict[str, Any] = {"place": place}
            if selection is not None:
                attributes, properties = _attributes(selection)
                record |= {"attributes": attributes, "properties": properties}
                record |= {"angle": angle} if (angle := selection.number("angle")) else {}
            if note is not None:
                record |= {"text": note.text, "html": note.html, "language": note.language}
                self.losses["formatting of a note"] += "<" in note.html.replace("<p>", "").replace("</p>", "")
            title = "" if selection is None else selection.title
            text = note.text if note is not None else title or None
            fields = {
                "kind": "note" if text else "highlight",
                "text": text,
                "anchor": {"rect": rect},
                "metadata": {mark: record},
            }
            annotation = by_place.get(place)
            if annotation is None:
                self.ctx.run("annotation.create", {"document_id": page_id, "anchor_kind": "bbox", **fields})
            elif annotation[3][mark] == record and annotation[2]["rect"] == rect:
                continue
            elif (annotation[1] or None) != _text_of_record(annotation[3][mark]):
                self.losses["a value that was changed here"] += 1
                continue
            else:
                self.ctx.run("annotation.update", {"annotation_id": annotation[0], **fields})
            self.counts["notes"] += 1
            self.counts["changes"] += 1

    def _rect(self, page_id: str, photo: ItemPart, selection: ItemPart) -> list[float]:
        """Return where a selection is, in fractions of the picture; all of it if that is nowhere on it."""
        row = primary_row(self.ctx.conn, page_id)
        width = photo.number("width") or row.pixel_width
        height = photo.number("height") or row.pixel_height
        x, y = max(0.0, selection.number("x") / width), max(0.0, selection.number("y") / height)
        right = min(1.0, (selection.number("x") + selection.number("width")) / width)
        bottom = min(1.0, (selection.number("y") + selection.number("height")) / height)
        return [x, y, right - x, bottom - y] if right > x and bottom > y else WHOLE

    def transcribe(self, page_id: str, photo: ItemPart) -> None:
        """Write the transcriptions as passes; one that is there already, from the same words, is not written again."""
        for part in (photo, *photo.parts):
            self.losses["an earlier transcription"] += part.further_transcriptions
        name = str(photo.own.get("filename") or "photo")[:200]
        if photo.alto:
            data = photo.alto.encode()
            if pass_of_file(self.ctx.conn, page_id, hashlib.sha256(data).hexdigest()) is None:
                params = {
                    "document_id": page_id,
                    "file": photo.alto,
                    "filename": f"{name}.xml",
                    "format": "alto",
                }
                try:
                    with self.ctx.conn.begin_nested():
                        self.ctx.run("format.import", params)
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
        keep_models(self.ctx, [(page_id, page)], ItemTexts(), f"{name}.json", digest)
        self._count_pass()

    def _count_pass(self) -> None:
        self.counts["passes"] += 1
        self.counts["changes"] += 1


def _attributes(part: ItemPart) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metadata by the last word of each property's address, and for each name that address and its type."""
    attributes: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for address, values in part.metadata.items():
        short = re.split("[/#:]", address.rstrip("/#:"))[-1]
        name = short if short and short not in attributes and short != "tags" else address
        contents = [value.value for value in values]
        attributes[name] = contents[0] if len(contents) == 1 else contents
        properties[name] = {"uri": address, "type": values[0].type}
    if part.tags:
        attributes["tags"] = part.tags
    return attributes, properties


def _text_of_record(record: dict[str, Any]) -> str | None:
    """Return the text that the last import gave an annotation: that of a note, else the title of its selection."""
    if "text" in record:
        return record["text"] or None
    names = {described["uri"]: name for name, described in record.get("properties", {}).items()}
    for address in TITLES:
        if address in names:
            title = record["attributes"][names[address]]
            return str(title[0] if isinstance(title, list) else title).strip() or None
    return None


def _as_page(texts: list[tuple[list[float], str]], size: tuple[int, int]) -> PageModel:
    page = PageModel(*size)
    for number, (rect, text) in enumerate(texts, 1):
        box = [fraction * side for fraction, side in zip(rect, (*size, *size), strict=True)]
        lines = [
            PageSegment(f"line-{number}-{place}", "line", texts=[PageText(line.strip())])
            for place, line in enumerate(filter(str.strip, text.splitlines()), 1)
        ]
        corners = [*corners_of(box)] if rect != WHOLE else []
        page.segments.append(PageSegment(f"text-{number}", "region", points=corners, children=lines))
    return page
