"""Reads collections that others publish: what each names, of Presentation 2 and 3."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import orjson

from armarium_iiif.manifest_reader import MAX_BYTES, web_address
from armarium_iiif.texts import as_list, id_of, plain_text, type_of

MAX_MEMBERS: Final = 25_000
_COLLECTIONS: Final = ("Collection", "sc:Collection")


class Member(NamedTuple):
    """A manifest or collection that a collection names."""

    address: str
    label: str
    is_collection: bool


class PublishedCollection(NamedTuple):
    """A collection: its label, what it names, and its next page where it has pages."""

    label: str
    members: list[Member]
    next_page: str | None
    left_out: int
    """Entries without a usable address, and those beyond the limit."""


def read_collection(data: bytes) -> PublishedCollection | None:
    """Return the collection that *data* is, None for anything else."""
    if len(data) > MAX_BYTES:
        return None
    try:
        collection = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    if type_of(collection) not in _COLLECTIONS:
        return None
    entries = [
        (entry, key)
        for key in ("items", "members", "collections", "manifests")
        for entry in as_list(collection.get(key))
    ]
    members = [member for entry, key in entries[:MAX_MEMBERS] if (member := _member(entry, key)) is not None]
    following = collection.get("next") or (collection.get("first") if not entries else None)
    return PublishedCollection(
        plain_text(collection.get("label")) or "Collection",
        members,
        web_address(id_of(following) if isinstance(following, dict) else following),
        len(entries) - len(members),
    )


def _member(entry: Any, key: str) -> Member | None:
    member = entry if isinstance(entry, dict) else {"id": entry}
    address = web_address(id_of(member))
    if address is None:
        return None
    kind = type_of(member) or ("Collection" if key == "collections" else "Manifest")
    return Member(address, plain_text(member.get("label")), kind in _COLLECTIONS)
