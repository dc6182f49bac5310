"""What every listing must answer, in plain Python: its rows without a filter, and which of them each filter keeps."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from armarium.api import name_key
from armarium.jobs.activity import ACTIVITY_TYPES
from proofs.listing_project import HARMFUL, ListingProject

Row = dict[str, Any]
Keeps = Callable[[Row, Any], bool]

PAGE = 1000


@dataclass(frozen=True)
class Filter:
    """A parameter that leaves rows out: values that leave some in, and whether a row passes with a value."""

    real: Callable[[ListingProject], Iterable[Any]]
    keeps: Keeps
    legal: Callable[[Any], bool] = lambda value: True
    several: bool = False
    needed: bool = False
    stands: bool = False
    """Whether it excludes rows even when it is left out (then `keeps` is called with None)."""


@dataclass(frozen=True, eq=False)
class Listing:
    """A listing route: the key of its answer, its path parameters, its rows, and its filters."""

    path: str
    key: str
    filters: Mapping[str, Filter] = field(default_factory=dict)
    homes: Callable[[ListingProject], list[str]] = lambda ground: []
    whole: Callable[[ListingProject, str], list[Row]] | None = None
    order: Callable[[list[Row], Row], list[Row]] = lambda rows, query: rows
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters that only change the order, with their values."""
    paged: bool = False
    most: int = PAGE
    identity: Callable[[Row], Any] = lambda row: row["id"]

    def at(self, home: str) -> str:
        return re.sub(r"\{[^}]+\}", lambda _: home, self.path)


def equal(*names: str) -> Keeps:
    """Return a filter for rows whose value at *names* equals the requested one."""

    def keeps(row: Row, value: Any) -> bool:
        for name in names[:-1]:
            row = row[name]
        return bool(row[names[-1]] == value)

    return keeps


def one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: value in words


def truth(value: Any) -> bool | None:
    """Return the boolean that a flag in a query means, in any accepted spelling."""
    word = str(value).casefold()
    if word in ("1", "on", "t", "true", "y", "yes"):
        return True
    return False if word in ("0", "off", "f", "false", "n", "no") else None


def read_known(statement: str, nothing: bool = True) -> Callable[[ListingProject], Iterable[Any]]:
    return lambda ground: [row[0] for row in ground.rows(statement)]


def read_pages(ground: ListingProject, path: str, key: str, **query: Any) -> list[Row]:
    """Return every row of a paged listing."""
    found: list[Row] = []
    while True:
        answer = ground.get(path, limit=PAGE, offset=len(found), **query)
        found += answer[key]
        if len(found) >= answer["total"]:
            return found


def _times(column: str, table: str) -> Callable[[ListingProject], Iterable[Any]]:
    return read_known(f"SELECT {column} FROM {table} ORDER BY {column}")


def _is_time(value: Any) -> bool:
    return re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", str(value)) is not None


def _is_number(value: Any) -> bool:
    return re.fullmatch(r"[1-9]\d{0,11}", str(value)) is not None


def _matches_folded(row: Row, value: str) -> bool:
    return value.casefold() in row["message"].casefold()


def _all_documents(ground: ListingProject, home: str) -> list[Row]:
    """Return the live children of every node, live or not, and of the top level."""
    parents = [row[0] for row in ground.rows("SELECT id FROM document")]
    pages = read_pages(ground, "/api/documents", "items")
    for parent in parents:
        pages += read_pages(ground, "/api/documents", "items", parent_id=parent)
    live = ground.rows("SELECT count(*) FROM document WHERE deleted_at IS NULL")[0][0]
    assert len(pages) == live
    return pages


def sorted_documents(rows: list[Row], query: Row) -> list[Row]:
    """Return documents in the requested order; those without a date come last either way."""
    by, down = query.get("sort_by", "sort_order"), query.get("sort_direction", "asc") == "desc"
    placed = sorted(rows, key=lambda row: (row["sort_order"], name_key(row["name"]), row["id"]))
    if by == "document_date":
        dated = [row for row in placed if row["date_iso"] is not None]
        dated.sort(key=lambda row: row["date_iso"], reverse=down)
        if down:
            # Ties keep their position, which a reversed sort preserves.
            dated = sorted(
                (row for row in placed if row["date_iso"] is not None),
                key=lambda row: row["date_iso"],
                reverse=True,
            )
        return dated + [row for row in placed if row["date_iso"] is None]
    keys: dict[str, Callable[[Row], Any]] = {
        "sort_order": lambda row: (row["sort_order"], name_key(row["name"]), row["id"]),
        "name": lambda row: (name_key(row["name"]), row["id"]),
        "created_at": lambda row: (row["created_at"], row["id"]),
    }
    return sorted(rows, key=keys[by], reverse=down)


SORTS = {
    "sort_by": ("sort_order", "document_date", "name", "created_at"),
    "sort_direction": ("asc", "desc"),
}
DOC_TYPES = ("folder", "group", "file", "page", "chunk")


def _view_rows(ground: ListingProject, home: str) -> list[Row]:
    return read_pages(ground, "/api/documents", "items", parent_id=home)


def _readings(ground: ListingProject, home: str) -> list[Row]:
    return list(ground.get(f"/api/segments/{home}/readings")["items"])


def _within(row: Row, text: str) -> bool:
    x, y, w, h = (float(part) for part in text.split(","))
    left, top, wide, high = row["anchor"]["rect"]
    return bool(left <= x + w and left + wide >= x and top <= y + h and top + high >= y)


def _is_area(text: Any) -> bool:
    return re.fullmatch(r"0\.\d+,0\.\d+,0\.\d+,0\.\d+", str(text)) is not None


def _entries(ground: ListingProject, home: str) -> list[Row]:
    return list(ground.get(f"/api/reading-orders/{home}/entries")["items"])


DOCUMENTS = Filter(read_known("SELECT id FROM document"), lambda row, value: True)

LISTINGS = (
    Listing(
        "/api/actions/audit",
        "items",
        {
            "action": Filter(read_known("SELECT DISTINCT action_name FROM audit"), equal("action_name")),
            "actor": Filter(read_known("SELECT DISTINCT actor_name FROM audit"), equal("actor", "name")),
            "target_id": Filter(
                read_known("SELECT target_id FROM audit_target"),
                lambda row, value: value in row["target_ids"],
            ),
            "run_id": Filter(read_known("SELECT DISTINCT run_id FROM audit"), equal("run_id")),
            "set_id": Filter(
                read_known("SELECT DISTINCT set_id FROM audit"),
                equal("set_id"),
                lambda value: len(value) <= 64,
            ),
            "since": Filter(
                _times("created_at", "audit"), lambda row, value: row["created_at"] >= value, _is_time
            ),
            "until": Filter(
                _times("created_at", "audit"), lambda row, value: row["created_at"] <= value, _is_time
            ),
            "undone": Filter(
                lambda ground: ["true", "false"],
                lambda row, value: row["undone"] == truth(value),
                lambda value: truth(value) is not None,
            ),
            "seq": Filter(
                read_known("SELECT seq FROM audit"),
                lambda row, value: str(row["seq"]) == str(value),
                _is_number,
            ),
        },
        orders={"scope": ("project",)},
        paged=True,
    ),
    Listing(
        "/api/activity",
        "items",
        {
            "types": Filter(
                read_known("SELECT DISTINCT type FROM activity"),
                lambda row, value: row["type"] in value,
                lambda value: ACTIVITY_TYPES.issuperset(value),
                several=True,
            ),
            "levels": Filter(
                lambda ground: ["debug", "info", "warning", "error"],
                lambda row, value: row["level"] in value,
                lambda value: set(value) <= {"debug", "info", "warning", "error"},
                several=True,
            ),
            **{
                name: Filter(read_known(f"SELECT DISTINCT {name} FROM activity"), equal(name))
                for name in ("workflow_id", "batch_id", "thread_id")
            },
            "since": Filter(
                _times("timestamp", "activity"), lambda row, value: row["timestamp"] >= value, _is_time
            ),
            "until": Filter(
                _times("timestamp", "activity"), lambda row, value: row["timestamp"] <= value, _is_time
            ),
            "search": Filter(
                lambda ground: ["note", "NOTE", "100%", "1=1", "é", "É", "x", "back\\", "%"], _matches_folded
            ),
        },
        paged=True,
        identity=lambda row: row["id"],
    ),
    Listing(
        "/api/documents",
        "items",
        {
            "parent_id": Filter(
                read_known("SELECT id FROM document WHERE doc_type = 'folder'"),
                equal("parent_id"),
                stands=True,
            ),
            "prototype_key": Filter(
                read_known("SELECT DISTINCT prototype_key FROM document"), equal("prototype_key")
            ),
            "doc_type": Filter(lambda ground: DOC_TYPES, equal("doc_type"), one_of(*DOC_TYPES)),
            "node_kind": Filter(read_known("SELECT DISTINCT node_kind FROM document"), equal("node_kind")),
        },
        whole=_all_documents,
        order=sorted_documents,
        orders=SORTS,
        paged=True,
    ),
    Listing(
        "/api/documents/{doc_id}/view",
        "children",
        homes=lambda ground: ground.folders,
        whole=_view_rows,
        order=sorted_documents,
        orders={
            **SORTS,
            "children": ("true", "1", "false"),
            "attachments": ("true", "false"),
            "level": ("stored",),
        },
        paged=True,
    ),
    Listing("/api/documents/trash", "items", paged=True),
    Listing(
        "/api/documents/run-history",
        "items",
        {
            "ids": Filter(
                read_known("SELECT id FROM document"),
                lambda row, value: row["document_id"] in value,
                several=True,
                needed=True,
            )
        },
        whole=lambda ground, home: [],
        identity=lambda row: row["document_id"],
    ),
    Listing(
        "/api/documents/{doc_id}/artifacts",
        "items",
        {
            "artifact_type": Filter(
                read_known("SELECT DISTINCT artifact_type FROM artifact"), equal("artifact_type")
            )
        },
        homes=lambda ground: [ground.page],
        paged=True,
    ),
    Listing(
        "/api/annotations",
        "items",
        {
            "document_id": Filter(
                read_known("SELECT DISTINCT document_id FROM annotation"), equal("document_id")
            ),
            "segment_id": Filter(
                lambda ground: ground.ids["segment"],
                lambda row, value: value in [target["segment_id"] for target in row["targets"]],
            ),
        },
        paged=True,
    ),
    Listing(
        "/api/bookmarks",
        "items",
        {
            "parent_id": Filter(
                read_known("SELECT DISTINCT parent_id FROM document WHERE node_kind = 'alias'"),
                equal("parent_id"),
            )
        },
    ),
    Listing(
        "/api/segments/document/{doc_id}",
        "segments",
        {
            "pass_id": Filter(lambda ground: ground.passes, equal("pass_id")),
            "artifact_id": Filter(read_known("SELECT id FROM artifact"), equal("source_artifact_id")),
            "kind": Filter(
                lambda ground: ["line", "word", "region"], equal("kind"), one_of("line", "word", "region")
            ),
            "area": Filter(
                lambda ground: ["0.0,0.0,0.2,0.2", "0.31,0.5,0.1,0.3", "0.9,0.9,0.05,0.05"], _within, _is_area
            ),
        },
        homes=lambda ground: [ground.page],
    ),
    Listing(
        "/api/segments/{segment_id}/readings",
        "items",
        {
            "kind": Filter(
                read_known("SELECT DISTINCT kind FROM content_representation"),
                lambda row, value: row["kind"] == value,
            )
        },
        homes=lambda ground: ground.ids["segment"][:3],
        whole=_readings,
    ),
    Listing(
        "/api/links/of/{end_id}",
        "links",
        {
            "include_deleted": Filter(
                lambda ground: ["true", "false"],
                lambda row, value: truth(value) is True or row["deleted_at"] is None,
                lambda value: truth(value) is not None,
                stands=True,
            )
        },
        homes=lambda ground: ground.ids["segment"][:4],
        whole=lambda ground, home: ground.get(f"/api/links/of/{home}", include_deleted="true")["links"],
    ),
    Listing(
        "/api/links/naming",
        "segments",
        {
            "uri": Filter(
                lambda ground: ground.uris,
                lambda row, value: row["uri"] == value,
                lambda value: len(value) <= 2000,
            )
        },
        whole=lambda ground, home: [
            {"link_id": link, "uri": uri}
            for link, uri in ground.rows(
                "SELECT id, to_id FROM link WHERE deleted_at IS NULL ORDER BY created_at, id"
            )
        ],
        identity=lambda row: row["link_id"],
    ),
    Listing(
        "/api/reading-orders/document/{document_id}",
        "items",
        {
            "include_deleted": Filter(
                lambda ground: ["true", "false"],
                lambda row, value: truth(value) is True or row["deleted_at"] is None,
                lambda value: truth(value) is not None,
                stands=True,
            )
        },
        homes=lambda ground: [ground.page],
        whole=lambda ground, home: ground.get(f"/api/reading-orders/document/{home}", include_deleted="true")[
            "items"
        ],
    ),
    Listing(
        "/api/reading-orders/{order_id}/entries",
        "items",
        {
            "parent_entry_id": Filter(
                read_known("SELECT id FROM reading_order_entry"), equal("parent_entry_id"), stands=True
            )
        },
        homes=lambda ground: ground.orders[:1],
        whole=_entries,
    ),
    Listing(
        "/api/reading/episodes",
        "episodes",
        {
            "job_id": Filter(read_known("SELECT DISTINCT job_id FROM episode"), equal("run", "job_id")),
            "document_id": Filter(
                read_known("SELECT DISTINCT document_id FROM episode"), equal("subject", "id")
            ),
        },
        identity=lambda row: row["episode_id"],
    ),
    Listing(
        "/api/activity/jobs/{job_id}/log",
        "lines",
        {
            "after": Filter(
                lambda ground: [0, 1, 2, 5, 10**6],
                lambda row, value: row["seq"] > int(value),
                lambda value: re.fullmatch(r"\d{1,18}", str(value)) is not None,
            )
        },
        homes=lambda ground: ground.jobs,
        identity=lambda row: row["seq"],
    ),
)


def whole_of(ground: ListingProject, listing: Listing, home: str) -> list[Row]:
    """Return every row of a listing."""
    if listing.whole is not None:
        return listing.whole(ground, home)
    if listing.paged:
        return read_pages(ground, listing.at(home), listing.key)
    return list(ground.get(listing.at(home))[listing.key])


class Cases:
    """Generated requests to listings, each with its expected answer."""

    def __init__(self, ground: ListingProject, seed: int) -> None:
        self.ground, self.chance = ground, random.Random(seed)
        self.whole = cache(lambda listing, home: whole_of(ground, listing, home))
        self.real = cache(lambda listing, name: [
            one for one in listing.filters[name].real(ground) if one is not None
        ])  # fmt: skip

    def value(self, listing: Listing, name: str) -> Any:
        """Return a value that exists, one similar to it, or a malicious one."""
        real = self.real(listing, name)
        dice = self.chance.random()
        if dice < 0.5 and real:
            return self.chance.choice(real)
        if dice < 0.7 and real:
            near = str(self.chance.choice(real))
            return self.chance.choice(
                [near + "' OR '1'='1", near.swapcase(), near + "%", near[:-1] + "_", "%" + near, near + "\x00", near[:3] + "%"]
            )  # fmt: skip
        return self.chance.choice(HARMFUL)

    def ask(self, listing: Listing) -> str | None:
        """Send one request; return the fault of its answer, or None."""
        chance = self.chance
        homes = listing.homes(self.ground)
        home = chance.choice(homes) if homes else ""
        query: dict[str, Any] = {}
        for name, condition in listing.filters.items():
            often = condition.needed or (len(listing.filters) == 1 and chance.random() < 0.7)
            if often or chance.random() < 0.45:
                values = [self.value(listing, name) for _ in range(chance.choice([1, 1, 2]))]
                query[name] = values if condition.several else values[0]
        orders_legal = True
        for name, words in listing.orders.items():
            if chance.random() < 0.5:
                harmful = chance.random() < 0.1
                query[name] = chance.choice(HARMFUL if harmful else words)
                flag = "true" in words and truth(query[name]) is not None
                orders_legal &= flag or query[name] in words
        limit, offset = 100 if listing.paged else PAGE, 0
        if listing.paged and chance.random() < 0.5:
            query["limit"] = limit = chance.choice([1, 3, 10, PAGE])
            query["offset"] = offset = chance.choice([0, 0, 1, 7, 10**6])
        legal = orders_legal and all(
            listing.filters[name].legal(value) for name, value in query.items() if name in listing.filters
        )
        answer = self.ground.client.get(listing.at(home), params=query)
        said = f"{listing.at(home)} {query!r}: {answer.status_code} {answer.text[:300]}"
        if answer.status_code >= 500:
            return said
        if answer.status_code != 200:
            unheard = any(
                value not in self.real(listing, name)
                for name, value in query.items()
                if name in listing.filters and not isinstance(value, list)
            )
            return said if legal and not unheard else None
        if not orders_legal:
            return f"taken: {said}"
        rows = answer.json()[listing.key]
        if rows is None or truth(query.get(listing.key)) is False:
            # The view of a folder leaves its children out only on request.
            return None if rows is None and truth(query.get(listing.key)) is False else said
        found = [listing.identity(row) for row in rows]
        wanted = self.expect_ids(listing, home, query)
        if found != wanted[offset : offset + limit]:
            extra = [item for item in found if item not in wanted]
            return f"{len(extra)} extra of {len(found)} rows, {len(wanted)} wanted: {said}"
        if listing.paged and listing.key == "items" and answer.json()["total"] != len(wanted):
            return f"total is not {len(wanted)}: {said}"
        return None

    def expect_ids(self, listing: Listing, home: str, query: dict[str, Any]) -> list[Any]:
        """Return the ids of the expected rows, in order."""
        rows = self.whole(listing, home)
        if listing.path.endswith("run-history"):
            known_ids = {row[0] for row in self.ground.rows("SELECT id FROM document")}
            return [fromkey for fromkey in dict.fromkeys(query.get("ids", [])) if fromkey in known_ids]
        for name, condition in listing.filters.items():
            if name in query:
                rows = [row for row in rows if condition.keeps(row, query[name])]
            elif condition.stands:
                rows = [row for row in rows if condition.keeps(row, None)]
        return [listing.identity(row) for row in listing.order(rows, query)]
