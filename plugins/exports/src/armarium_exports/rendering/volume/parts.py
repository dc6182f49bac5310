"""What a file of many pages consists of, and where its headings come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_documents.api import PageImage, documents
from armarium_exports.pages import ReadablePage

NOT_READ = "This page has not been read."
DEEPEST = 8
"""The level of headings below which the tree has no others: that of pages is one more, and Word has nine."""


class Heading(NamedTuple):
    """A folder or document of the tree, from level 1."""

    level: int
    title: str


class PagePlace(NamedTuple):
    """A page of the file: the headings that begin with it, and how many levels of the tree it lies below."""

    page_id: str
    headings: tuple[Heading, ...]
    depth: int


class VolumeWriter(Protocol):
    """Writes a file from its beginning to its end."""

    def heading(self, heading: Heading) -> None:
        """Begin a folder or document."""

    def page(self, page: ReadablePage, depth: int, picture: PageImage | None) -> None:
        """Write a page; without text it is only named."""

    def finish(self, about: Sequence[str]) -> None:
        """Write the end, *about* in sentences what the file contains."""


def place_pages(conn: Connection, page_ids: Sequence[str]) -> tuple[str | None, list[PagePlace]]:
    """Return the name of the innermost node that has all these pages, if there is one, and where each page stands."""
    nodes = nodes_above(conn, page_ids)
    live = [page_id for page_id in page_ids if page_id in nodes]
    chains = [list(_ancestors(page_id, nodes))[::-1] for page_id in live]
    shared = 0
    for level in zip(*chains, strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    title = nodes[chains[0][shared - 1]][0] if shared else None
    placed: list[PagePlace] = []
    before: list[str] = []
    for page_id, chain in zip(live, (chain[shared:] for chain in chains), strict=True):
        equal_count = 0
        while equal_count < min(len(before), len(chain)) and before[equal_count] == chain[equal_count]:
            equal_count += 1
        new = tuple(Heading(at + 1, nodes[chain[at]][0]) for at in range(equal_count, len(chain)))
        placed.append(PagePlace(page_id, new, len(chain)))
        before = chain
    return title, placed


def nodes_above(
    conn: Connection, page_ids: Iterable[str], top: str | None = None
) -> dict[str, tuple[str, str | None]]:
    """Return the name and the parent of pages and of everything above them, up to the node *top*."""
    document = documents.c
    nodes: dict[str, tuple[str, str | None]] = {}
    to_find = set(page_ids)
    while to_find:
        rows = conn.execute(
            select(document.id, document.name, document.parent_id).where(is_among(document.id, to_find))
        ).all()
        nodes |= {row.id: (row.name, row.parent_id) for row in rows}
        to_find = {row.parent_id for row in rows if row.id != top and row.parent_id} - nodes.keys()
    return nodes


def _ancestors(page_id: str, nodes: dict[str, tuple[str, str | None]]) -> Iterator[str]:
    parent = nodes[page_id][1]
    while parent is not None and parent in nodes:
        yield parent
        parent = nodes[parent][1]
