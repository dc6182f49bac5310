"""Checks whether a transfer is allowed and what it would carry, before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, raw_of, refuse_locked, refuse_withheld, rules_of
from armarium_documents.errors import (
    alias_stays,
    held_by_move,
    in_trash,
    locked_stays,
    not_into_branch,
    same_project,
    source_not_open,
    sources_stays,
    target_no_folder,
)
from armarium_documents.hookspecs import Carrier, Limits, Tie, Vocabulary, armarium_documents_carriers
from armarium_documents.queries.carrying import CarriedTable, Selection, carried_tables
from armarium_documents.queries.transfers import held_moves
from armarium_documents.queries.tree import (
    ancestor_ids,
    height_of,
    locked_above,
    locked_within,
    nodes_of,
    require_depth,
    require_live,
    sources_folder,
    subtree_ids,
    topmost,
)
from armarium_documents.schemas.transfer import TransferParams


@dataclass(frozen=True)
class Journey:
    """A permitted transfer: from where, of what, to where."""

    source: Library
    target: Library
    parent_id: str
    tops: list[str]
    """The things chosen, without those that lie beneath another of them."""
    mode: str


def agree(engine: Engine, target: Library, principal: Principal, p: TransferParams) -> Journey:
    """Return the journey, or raise the refusal; changes nothing."""
    source = _source(engine, target, principal, p.source_library)
    if target.is_branch and p.mode == "move":
        raise not_into_branch(target.name)
    with target.db.read() as conn:
        parent = (
            sources_folder(conn) if p.target_parent_id is None else require_live(conn, p.target_parent_id)
        )
        if parent.doc_type != "folder" or parent.node_kind != "document":
            kind = parent.doc_type if parent.node_kind == "document" else parent.node_kind
            raise target_no_folder(parent.name, kind, parent.id)
        # Every incoming row is checked for this too; checked here before any file is copied.
        refuse_locked(conn, engine.library_schema, principal, [parent.id])
    _refuse_restricted(source, principal, p.items)
    with source.db.read() as conn:
        nodes = nodes_of(conn, p.items)
        held_ids = set(held_moves(raw_of(conn)))
        for node in nodes:
            if node.deleted_at is not None:
                raise in_trash(node.name, node.id)
            if node.node_kind == "alias":
                raise alias_stays(node.name, node.id)
            if node.system_key is not None and p.mode == "move":
                raise sources_stays("moved")
            if held_ids and not held_ids.isdisjoint(ancestor_ids(conn, node.id)):
                raise held_by_move(node.name, node.id)
        for identity in held_ids:
            if not set(p.items).isdisjoint(ancestor_ids(conn, identity)):
                raise held_by_move("Something among these", identity)
        tops = topmost(conn, p.items)
        _refuse_locked(conn, tops)
        height = max(height_of(conn, top) for top in tops)
    with target.db.read() as conn:
        require_depth(conn, parent.id, height)
    return Journey(source, target, parent.id, tops, p.mode)


def _source(engine: Engine, target: Library, principal: Principal, path: str) -> Library:
    place = str(engine.paths.package(path, principal, required="read"))
    if place == str(target.path):
        raise same_project(target.name)
    source = engine.libraries.open_at(place)
    if source is None:
        raise source_not_open(place)
    return source


def _refuse_restricted(source: Library, principal: Principal, items: Sequence[str]) -> None:
    """Refuse items that the caller may not see and, to a machine, items below records that limit it."""
    with source.db.read_all() as conn:
        subtree = subtree_ids(conn, items, live=False)
    refuse_withheld(source, principal, subtree, "show")
    if principal.kind == "machine":
        refuse_withheld(source, principal, subtree, "export")


def _refuse_locked(conn: Any, tops: Sequence[str]) -> None:
    if raw_of(conn).execute("SELECT 1 FROM document WHERE is_locked LIMIT 1").fetchone() is None:
        return
    for top in tops:
        locked = locked_above(conn, top)
        if locked is not None:
            raise locked_stays(*locked[::-1])
    locked = locked_within(conn, tops)
    if locked is not None:
        raise locked_stays(*locked[::-1])


@dataclass(frozen=True)
class Load:
    """The carriers of all families, combined."""

    carriers: list[Carrier]
    tables: list[CarriedTable]
    vocabularies: list[Vocabulary]

    @property
    def companions(self) -> list[str]:
        """Return the tables whose rows come along with the rows that need them."""
        return [name for carrier in self.carriers for name in carrier.companions]

    @property
    def always_along(self) -> list[str]:
        """Those of them that come along with every row that names them."""
        return [name for carrier in self.carriers for name in carrier.named]

    @property
    def parts(self) -> list[str]:
        """Return the tables whose rows are parts of companions."""
        return [name for carrier in self.carriers for name in carrier.parts]

    def find_ties(
        self, conn: Connection, documents: Sequence[str]
    ) -> list[tuple[Tie, list[tuple[str, str, str]]]]:
        """Return everything that a move of *documents* cuts in the project they leave."""
        return [(tie, tie.find(conn, documents)) for carrier in self.carriers for tie in carrier.ties]

    def find_limits(
        self, conn: Connection, items: Sequence[str], documents: Sequence[str]
    ) -> list[tuple[Limits, str, Mapping[str, Any]]]:
        """Return what holds for which of the *documents* from others that are not among them."""
        limits_found = [
            (carrier.limits, carrier.limits.find(conn, items, documents))
            for carrier in self.carriers
            if carrier.limits
        ]
        return [
            (limits_found, identity, held)
            for limits_found, by_id in limits_found
            for identity, held in by_id.items()
        ]

    def kind_of(self, table: str) -> str:
        """Return the word under which rows of *table* are counted."""
        return next(
            (carrier.kinds[table] for carrier in self.carriers if table in carrier.kinds), "page_records"
        )

    def counts_by_kind(self, counts: dict[str, int]) -> dict[str, int]:
        """Convert counts by table to counts by kind."""
        by_kind: dict[str, int] = {}
        for table, count in counts.items():
            kind = self.kind_of(table)
            by_kind[kind] = by_kind.get(kind, 0) + count
        return by_kind


def load_of(engine: Engine) -> Load:
    """Return how the loaded families are carried."""
    carriers = engine.points.collect(armarium_documents_carriers)
    present = {table.name for table in engine.library_schema.tables}
    vocabularies = [
        vocabulary for carrier in carriers for vocabulary in carrier.vocabulary if vocabulary.table in present
    ]
    companions = [name for carrier in carriers for name in carrier.companions if name in present]
    tables = carried_tables(
        engine.library_schema.tables, companions, [vocabulary.table for vocabulary in vocabularies]
    )
    return Load(carriers, tables, vocabularies)


def select(engine: Engine, load: Load, journey: Journey) -> Selection:
    """Return the open selection with its rows chosen; the caller closes it."""
    selection = Selection(
        journey.source,
        load.tables,
        companions=load.companions,
        named=load.always_along,
        parts=load.parts,
        everything=engine.library_schema.tables,
    )
    try:
        selection.choose(journey.tops)
    except BaseException:
        selection.__exit__()
        raise
    return selection


def split_words(selection: Selection, vocabulary: Vocabulary, target: Library) -> tuple[list[str], list[str]]:
    """Return (keys that exist in the target, keys to be made there) of the vocabulary that goes along."""
    keys = selection.words(vocabulary)
    with target.db.read() as conn:
        raw = raw_of(conn)
        existing = {row[0] for row in raw.execute(f'SELECT "{vocabulary.key}" FROM "{vocabulary.table}"')}
    return [key for key in keys if key in existing], [key for key in keys if key not in existing]


def cuts_of(engine: Engine, load: Load, journey: Journey, selection: Selection) -> list[dict[str, Any]]:
    """Return what a move cuts in the source; nothing for a copy."""
    if journey.mode != "move":
        return []
    documents = selection.documents()
    with journey.source.db.read() as conn:
        return list_cuts(load.find_ties(conn, documents))


def list_cuts(ties: Iterable[tuple[Tie, Sequence[tuple[str, str, str]]]]) -> list[dict[str, Any]]:
    """Return what a move cuts, as its answer lists it."""
    return [
        {"kind": tie.kind, "id": identity, "name": name, "why": why}
        for tie, rows in ties
        for identity, name, why in rows
    ]


def describe_plan(
    engine: Engine, load: Load, journey: Journey, selection: Selection, *, dry_run: bool
) -> dict[str, Any]:
    """Return the answer as far as it is known before anything is written."""
    words: dict[str, list[dict[str, str]]] = {"matched": [], "made": []}
    for vocabulary in load.vocabularies:
        label = rules_of(engine.library_schema.by_name[vocabulary.table]).label or vocabulary.table
        for treatment, keys in zip(words, split_words(selection, vocabulary, journey.target), strict=True):
            words[treatment] += [{"kind": label, "key": key, "id": key} for key in keys]
    files, size, linked, missing = files_of(journey, selection)
    counts = load.counts_by_kind(selection.counts()) | {"files": len(files) + len(linked)}
    return {
        "transfer_id": None,
        "mode": journey.mode,
        "dry_run": dry_run,
        "source_library": str(journey.source.path),
        "target_library": str(journey.target.path),
        "target_parent_id": journey.parent_id,
        "planned": counts,
        "written": None,
        "files_copied": len(files),
        "bytes_copied": size,
        "linked_originals": linked_originals(selection, linked),
        "vocabulary": words,
        "entity_matches": _expected_matches(load, journey, selection) if dry_run else [],
        "edges_cut": selection.edges_cut,
        "left_behind": selection.left_behind + missing,
        "new_items": [],
        "cuts": cuts_of(engine, load, journey, selection),
        "audit_id": None,
        "source_audit_id": None,
    }


def _expected_matches(load: Load, journey: Journey, selection: Selection) -> list[dict[str, Any]]:
    with journey.target.db.read() as conn:
        return [
            match
            for carrier in load.carriers
            if carrier.expected is not None
            for match in carrier.expected(conn, {name: selection.rows(name) for name in carrier.companions})
        ]


def files_of(
    journey: Journey, selection: Selection
) -> tuple[list[str], int, dict[str, str], list[dict[str, str]]]:
    """Return (files to copy, their total bytes, links by digest with targets, files the source lacks)."""
    files, size, linked, missing = [], 0, {}, []
    source, target = journey.source.objects, journey.target.objects
    for digest in selection.digests():
        if not source.has(digest):
            why = "A row names this file, which is missing from the project; `armarium doctor` says more."
            missing.append({"kind": "file", "id": digest, "why": why})
        elif source.holds(digest):
            if not target.holds(digest):
                files.append(digest)
                size += source.size(digest)
        elif not target.has(digest):
            linked[digest] = str(source.path(digest).resolve())
    return files, size, linked, missing


def linked_originals(selection: Selection, linked: dict[str, str]) -> list[dict[str, str]]:
    """Return the documents whose pictures are only linked, and where the files are."""
    return [
        {"document_id": document_id, "path": linked[digest]}
        for document_id, digest in selection.named_by(list(linked))
    ]
