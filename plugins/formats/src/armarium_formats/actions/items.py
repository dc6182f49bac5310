"""Takes in what Tropy, Zotero and Omeka S exported: items as groups of pages, with metadata, tags, notes, selections and texts."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import func, select

from armarium.api import ActionContext, Engine, Invalid, Library, Route, action, cancel_with_undo, new_id
from armarium_documents.api import clean_name, documents, require_parent, sources_folder, title_of_work
from armarium_formats.items.files import key_of, take_file
from armarium_formats.items.parts import ItemExport, ItemPart
from armarium_formats.items.reading import read_items
from armarium_formats.items.writing import ItemWriter
from armarium_formats.schemas.items import ImportItems, ItemsImported, ItemsStarted

MAX_BYTES = 256 * 1024 * 1024
COUNTED = ("new", "changed", "equal", "pages", "notes", "passes")

_WHY = {
    "a turned or adjusted view of a photo": "pictures are shown as they are; the numbers are kept with the page",
    "a turned selection": "places are upright boxes; the angle is kept with the note",
    "a further list of an item": "a document is in one folder; the list is kept and written back",
    "an earlier transcription": "the newest of a photo or selection is taken",
    "the layout of a selection's transcription": "its coordinates are those of the selection; its text is taken",
    "formatting of a note": "notes are plain text; what was written is kept and written back until the note changes",
    "a value that was changed here": "what was changed here since the last import stays",
    "a relation of an item to another": "documents are not related to each other",
    "a tag of a note": "notes of documents have no tags of their own from elsewhere",
    "an attachment or note without an item": "it belongs to no document; export Zotero RDF, which has it whole",
    "a further row of an item": "rows with one identifier are one document; their files are added to it",
}


def open_export(p: ImportItems) -> ItemExport:
    """Return the items in the file that *p* names; Invalid for what is not an export."""
    file = p.path.real
    if not file.is_file() or file.stat().st_size > MAX_BYTES:
        raise Invalid("Name the file that was exported, of at most 256 MiB.", code="not_items")
    return read_items(file.read_bytes(), file.name)


def take_files(
    engine: Engine, library: Library, p: ImportItems, export: ItemExport, earlier_ids: set[str]
) -> None:
    """Store the files of the items of an export and hand all of it over to the step; *earlier_ids*: documents that earlier
    steps of the same import made.
    """
    root = p.path.real.parent.resolve()
    nodes: dict[int, list[dict[str, Any]]] = {}
    refused: list[dict[str, str]] = []
    for part in (part for item in export.items for part in item.parts):
        try:
            nodes[id(part)] = take_file(engine, library, part, root)
        except Invalid as refusal:
            refused.append({"file": str(part.own.get("path", ""))[:4096], "why": refusal.detail})
    p.hand_over((export, nodes, refused, earlier_ids))


def _read_before(engine: Engine, library: Library | None, p: ImportItems) -> None:
    assert library is not None
    if p.groundwork is None:
        take_files(engine, library, p, open_export(p), set())


@action(
    "ingest.items",
    result=ItemsImported,
    summary="Import the items that Tropy, Zotero or Omeka S exported, with their files, metadata, notes, tags and texts.",
    route=Route("POST", "/api/ingest/items"),
    words="Imported items into {|Sources}",
    prepare=_read_before,
)
def import_items(ctx: ActionContext, p: ImportItems) -> dict[str, Any]:
    """Import in one step. What an earlier import brought is recognised by the program's key or by its files, and
    updated where nobody changed it here. Invalid for a file that is not an export; NotFound for the parent.
    """
    _read_before(ctx.engine, ctx.project, p)
    parent = (
        sources_folder(ctx.conn) if p.parent_id is None else require_parent(ctx.conn, p.parent_id, "folder")
    )
    assert parent is not None
    export, nodes, refused, earlier_ids = p.groundwork
    work = _Import(ctx, parent.id, export, nodes, earlier_ids)
    for item in export.items:
        work.take(item)
    work.picture_pages()
    ctx.target(parent.id, *work.ids[:100])
    losses = [
        {"what": what, "count": count, "why": _WHY.get(what, "it has no place here")}
        for what, count in sorted((+work.losses).items())
    ]
    counts = {name: work.counts[name] for name in COUNTED}
    return {
        "program": export.program, "items": len(export.items), **counts, "document_ids": work.ids, "refused": refused,
        "losses": losses,
    }  # fmt: skip


@action(
    "ingest.items_job",
    result=ItemsStarted,
    summary="Import many items that Tropy, Zotero or Omeka S exported, as a background job.",
    route=Route("POST", "/api/ingest/items/start"),
    words="Started to import items",
    after_undo=cancel_with_undo,
)
def start_items(ctx: ActionContext, p: ImportItems) -> dict[str, Any]:
    """Enqueue the job `ingest-items`, whose steps are undone together. NotFound for the parent."""
    if p.parent_id is not None:
        require_parent(ctx.conn, p.parent_id, "folder")
    args = {"path": str(p.path), "parent_id": p.parent_id}
    job_id = ctx.enqueue("ingest-items", args, title=f"Import {p.path.real.name}")
    ctx.target(job_id)
    return {"job_id": job_id, "state": "waiting", "set_id": job_id}


class _Import(ItemWriter):
    def __init__(
        self,
        ctx: ActionContext,
        parent_id: str,
        export: ItemExport,
        nodes: dict[int, list[dict[str, Any]]],
        earlier_ids: set[str],
    ) -> None:
        super().__init__(ctx, export)
        self.parent_id = parent_id
        self.nodes = nodes
        self.ids: list[str] = []
        self.taken = set(earlier_ids)
        self.to_picture: list[str] = []
        self.folders: dict[tuple[str, ...], str] = {(): parent_id}
        document = documents.c
        key = func.json_extract(document.source_metadata, f"$.{self.program}.key")
        rows = ctx.conn.execute(
            select(document.id, document.parent_id, document.doc_type, key).where(
                document.deleted_at.is_(None), key.is_not(None)
            )
        )
        self.groups: dict[str, list[str]] = {}
        self.pages: dict[str, list[tuple[str, str]]] = {}
        """Files of earlier imports and their groups, by the key of the file."""
        for row in rows:
            if row[2] == "group":
                self.groups.setdefault(row[3], []).append(row[0])
            else:
                self.pages.setdefault(row[3], []).append((row[0], row[1]))

    def take(self, item: ItemPart) -> None:
        before = self.counts["changes"]
        existing_id = self._group_there(item)
        group_id = existing_id or self._new_group(item)
        self.ids.append(group_id)
        self.taken.add(group_id)
        self.describe(group_id, item, self._key(item))
        photos: list[tuple[str, ItemPart]] = []
        fresh: list[dict[str, Any]] = []
        for photo in item.parts:
            known_id = next(
                (page for page, group in self.pages.get(key_of(photo), ()) if group == group_id), None
            )
            if known_id is not None:
                photos.append((known_id, photo))
            elif (node := self.nodes.get(id(photo))) is not None:
                identity = new_id()
                self.pages.setdefault(key_of(photo), []).append((identity, group_id))
                fresh.append({**node[0], "id": identity, "parent_id": group_id})
                fresh += [{**page, "parent_id": identity} for page in node[1:]]
                self.to_picture += [identity] if len(node) > 1 else []
                photos.append((identity, photo))
        if fresh:
            self.ctx.run("document.add_files", {"nodes": fresh})
            self.counts["pages"] += sum(
                node["doc_type"] == "page" or node["id"] not in self.to_picture for node in fresh
            )
            self.counts["changes"] += 1
        if item.notes:
            self.annotate(group_id, item, [])
        for page_id, photo in photos:
            self.describe(page_id, photo, key_of(photo))
            self.annotate(page_id, photo, photo.parts)
            self.transcribe(page_id, photo)
        changed = self.counts["changes"] > before
        self.counts["new" if existing_id is None else "changed" if changed else "equal"] += 1

    def picture_pages(self) -> None:
        """Have the pages of files of several pages pictured after this step."""
        if self.to_picture:
            params = {"document_ids": self.to_picture, "parent_id": self.parent_id, "set_id": self.ctx.set_id}
            title = title_of_work(self.ctx.conn, "Picture the pages of files", self.to_picture, "file")
            job_id = self.ctx.enqueue("page-pictures", params, title=title)
            self.ctx.set_id = self.ctx.set_id or job_id
            self.ctx.target(job_id)

    def _key(self, item: ItemPart) -> str:
        """Return what identifies an item from one export to the next: the program's key, all its files, else its title."""
        if "key" not in item.own and item.parts:
            key_lines = "\n".join(key_of(part) for part in item.parts)
            return f"files:{hashlib.md5(key_lines.encode(), usedforsecurity=False).hexdigest()}"
        return str(item.own.get("key") or item.title or "untitled")

    def _group_there(self, item: ItemPart) -> str | None:
        """Return the group of an earlier import: that with a file of the same checksum, else with the item's key."""
        for part in item.parts:
            if "key" not in part.own and not part.own.get("by_name"):
                for _, group in self.pages.get(key_of(part), ()):
                    if group not in self.taken:
                        return group
        key = self._key(item)
        for group in self.groups.get(key, ()):
            # Zotero numbers the items of each library from one.
            if group not in self.taken and (
                not key.startswith("#item_") or self.says_something_of(group, item)
            ):
                return group
        return None

    def _new_group(self, item: ItemPart) -> str:
        try:
            name = clean_name(item.title[:200])
        except ValueError:
            name = "Untitled"
        self.losses["a further list of an item"] += max(0, len(item.lists) - 1)
        path = item.lists[0] if item.lists else ()
        group = self.ctx.run(
            "document.create", {"name": name, "doc_type": "group", "parent_id": self._folder(path)}
        )
        return str(group["id"])

    def _folder(self, path: tuple[str, ...]) -> str:
        if path not in self.folders:
            above, document = self._folder(path[:-1]), documents.c
            conditions = (
                document.parent_id == above,
                document.name == path[-1],
                document.doc_type == "folder",
                document.deleted_at.is_(None),
            )
            folder_id = self.ctx.conn.execute(select(document.id).where(*conditions)).scalar()
            self.folders[path] = (
                folder_id or self.ctx.run("document.create", {"name": path[-1], "parent_id": above})["id"]
            )
        return self.folders[path]
