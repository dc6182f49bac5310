"""Documents as items of programs for collections: what each consists of, the file that is written about all, and its check."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import select

from armarium.api import Library, parse_xml
from armarium_documents.api import annotation_table, documents

if TYPE_CHECKING:
    from armarium_exports.receivers.profiles import Profile
    from armarium_exports.receivers.writing import WritablePage

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """A document with its pages; a page directly in a folder is a document of its own."""

    whole: Row
    notes: list[Row]
    """Annotations of the document itself."""
    pages: list[tuple[WritablePage, Row, list[Row]]]
    """Each page with its row and its annotations."""

    @property
    def tags(self) -> list[str]:
        """Return its tags."""
        tags = self.whole["attributes"].get("tags") or []
        return [str(tag) for tag in (tags if isinstance(tags, list) else [tags])]


def items_of(library: Library, pages: Iterable[WritablePage]) -> list[Item]:
    """Return the documents to which *pages* belong, in their order."""
    items: dict[str, Item] = {}
    document, annotation = documents.c, annotation_table.c
    with library.db.read() as conn:

        def notes(identity: str) -> list[Row]:
            rows = (
                select(annotation_table)
                .where(annotation.document_id == identity)
                .order_by(annotation.created_at, annotation.id)
            )
            return [dict(row._mapping) for row in conn.execute(rows)]

        for page in pages:
            own: Row = dict(
                conn.execute(select(documents).where(document.id == page.document_id)).one()._mapping
            )
            whole = own
            # A page of a file within a group belongs to the group, as does the file.
            while above := conn.execute(
                select(documents).where(document.id == whole["parent_id"])
            ).one_or_none():
                if above.doc_type not in ("group", "file"):
                    break
                whole = dict(above._mapping)
            item = items.get(whole["id"])
            if item is None:
                item = items[whole["id"]] = Item(whole, [] if whole is own else notes(whole["id"]), [])
            item.pages.append((page, own, notes(page.document_id)))
    return list(items.values())


def marked_text(text: str, metadata: Mapping[str, Any]) -> str:
    """Return a note as HTML: as the program wrote it, as long as its text is the same."""
    marked = metadata.get("html") if metadata.get("text") == text else None
    return str(marked or "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines()))


def write_items(library: Library, pages: list[WritablePage], profile: Profile) -> bytes:
    """Return the file about the items of *pages*; what it lacks is added to the losses of its pages."""
    from armarium_exports.receivers.omeka import omeka_of
    from armarium_exports.receivers.tropy import tropy_of
    from armarium_exports.receivers.zotero import zotero_of

    items = items_of(library, pages)
    writers = {"tropy": tropy_of, "zotero": zotero_of, "omeka-s": omeka_of}
    return writers[profile.name](items, profile.images)


def check_items(folder: Path, profile: Profile) -> list[str]:
    """Return each file that the export names and that is not there, or has another checksum."""
    data = (folder / profile.table).read_bytes()
    names: list[tuple[str, str | None]] = []
    if profile.table.endswith(".json"):
        names = [
            (photo["path"], photo["checksum"])
            for item in orjson.loads(data)["@graph"]
            for photo in item["photo"]
        ]
    elif profile.table.endswith(".rdf"):
        resource = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"
        names = [
            (element.get(resource) or "", None) for element in parse_xml(data).iterfind(f".//{resource}")
        ]
    else:
        rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        names = [
            (f"{profile.images}/{name}", None) for row in rows for name in row["sideload"].split("|") if name
        ]
    problems = []
    for path, checksum in names:
        if not (folder / path).is_file():
            problems.append(f"{profile.table} names {path}, which does not exist.")
        elif checksum is not None and md5_of(folder / path) != checksum:
            problems.append(f"{path} has another checksum than {profile.table} states.")
    return problems


def md5_of(path: Path) -> str:
    """Return the MD5 of a file, by which Tropy knows a photo."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
