"""Which segments look alike, by the vectors of their pictures; and the proposals made from that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, Select, Table, func, select

from armarium.api import Library, is_among, query, withheld_pages
from armarium_documents.api import documents
from armarium_paleography.errors import no_eyes, not_looked_at
from armarium_paleography.queries.live_segments import Offset, list_rows, live, segment_row, stands
from armarium_paleography.records.hands import attributions
from armarium_paleography.records.likeness import (
    Likes,
    Proposal,
    ProposalKind,
    Proposals,
    ProposalState,
    proposals,
    vectors,
)
from armarium_paleography.records.marks import instances
from armarium_source_model.api import passes, segments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

GROUP = "armarium.likeness"
"""Entry points of workers that make vectors of pictures: `module:Class`, with a method `look`."""
HELD = "paleography.vectors"
MOST = 1_000
PROPOSALS = Proposal.rows
JUDGED: Mapping[str, tuple[Table, str]] = {"hand": (attributions, "hand_id"), "sign": (instances, "sign_id")}

Limit = Annotated[int, Query(ge=1, le=MOST)]


class Looks(NamedTuple):
    """The vectors of a project, centred and of unit length, one row per segment."""

    mark: tuple[int, int, str | None]
    segment_ids: list[str]
    document_ids: list[str]
    place: dict[str, int]
    matrix: Numbers

    def scores(self, segment_id: str) -> Numbers:
        """Return the similarity of each segment to this one, from -1 to 1."""
        likenesses: Numbers = self.matrix @ self.matrix[self.place[segment_id]]
        return likenesses


def looks_of(library: Library) -> Looks:
    """Return the vectors that the caller may see, also those of what was deleted. For callers from whom nothing is
    withheld they are cached until one is added or removed; for others they are centred anew, so that no similarity
    depends on what is withheld.
    """
    with library.db.read() as conn:
        sees_all = withheld_pages(conn) is None
        # The last row's segment is part of the mark: after the last rows were purged, new ones take their
        # numbers.
        last = f"(SELECT max(rowid) FROM {vectors})"
        marked = conn.exec_driver_sql(
            f"SELECT (SELECT count(*) FROM {vectors}), coalesce({last}, 0), "
            f"(SELECT segment_id FROM {vectors} WHERE rowid = {last})"
        ).one()
        mark = (int(marked[0]), int(marked[1]), marked[2])
        cached = library.held.get(HELD)
        if sees_all and isinstance(cached, Looks) and cached.mark == mark:
            return cached
        # Vectors of another length were made by an earlier model: they cannot be compared until looked at anew.
        newest = f"(SELECT length(vector) FROM {vectors} WHERE rowid = {last})"
        rows = conn.exec_driver_sql(
            f"SELECT segment_id, document_id, vector FROM {vectors} WHERE length(vector) = {newest}"
        ).all()
    looks = Looks(
        mark,
        [row[0] for row in rows],
        [row[1] for row in rows],
        {row[0]: number for number, row in enumerate(rows)},
        _centre_vectors([row[2] for row in rows]),
    )
    if sees_all:
        library.held[HELD] = looks
    return looks


def _centre_vectors(stored: list[bytes]) -> Numbers:
    """Return the vectors minus their mean, so that what distinguishes them remains."""
    import numpy as np

    if not stored:
        return np.zeros((0, 1), dtype=np.float32)
    matrix = np.frombuffer(b"".join(stored), dtype=np.float16).reshape(len(stored), -1).astype(np.float32)
    if len(matrix) > 2:
        matrix -= matrix.mean(axis=0)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.maximum(lengths, 1e-9)
    return matrix


@query("/api/likeness", summary="The segments that look most like one", answer=Likes, refusals=(404, 409))
def list_alike(
    conn: Connection,
    library: Library,
    segment_id: str,
    limit: Limit = 20,
    same_page: Annotated[bool, Query(description="include segments of the same page")] = False,
) -> dict[str, Any]:
    """The most similar first, by the pictures alone. What was deleted, is in the Trash or is withheld is left
    out.
    """
    own = segment_row(conn, segment_id)
    looks = looks_of(library)
    if segment_id not in looks.place:
        raise not_looked_at(segment_id)
    scores = looks.scores(segment_id)
    items: list[dict[str, Any]] = []
    for chunk in _best_first(scores, 4 * limit):
        numbers = [
            number
            for number in chunk
            if looks.segment_ids[number] != segment_id
            and (same_page or looks.document_ids[number] != own.document_id)
        ]
        among = is_among(segments.c.id, [looks.segment_ids[number] for number in numbers])
        rows = conn.execute(_select_standing(segments.c.id, segments.c.document_id).where(among))
        document_by_segment = {row.id: row.document_id for row in rows}
        for number in numbers:
            if len(items) >= limit:
                break
            identity = looks.segment_ids[number]
            if identity in document_by_segment:
                score = round(float(scores[number]), 4)
                items.append(
                    {"segment_id": identity, "document_id": document_by_segment[identity], "score": score}
                )
        if len(items) >= limit:
            break
    return {
        "segment_id": segment_id,
        "items": items,
        "count": len(items),
        "looked_at": len(looks.segment_ids),
        "withheld": _count_withheld(conn, library),
    }


def _count_withheld(conn: Connection, library: Library) -> int:
    """Return how many segments that were looked at are withheld, whatever they look like."""
    if withheld_pages(conn) is None:
        return 0
    everything = select(func.count()).select_from(_select_standing(vectors.c.segment_id).subquery())
    with library.db.read_all() as whole:
        count: int = whole.execute(everything).scalar_one() - conn.execute(everything).scalar_one()
    return count


def _best_first(scores: Numbers, size: int) -> Iterator[list[int]]:
    """Yield the indexes of the highest scores in batches, the highest first."""
    import numpy as np

    if len(scores) > size:
        first = np.argpartition(-scores, size)[:size]
        yield [int(number) for number in first[np.argsort(-scores[first], kind="stable")]]
    order = np.argsort(-scores, kind="stable")
    start = size if len(scores) > size else 0
    while start < len(order):
        yield [int(number) for number in order[start : start + 4 * size]]
        start += 4 * size


def _select_standing(*columns: ColumnElement[str]) -> Select[*tuple[Any, ...]]:
    """Select columns of the segments that were looked at and neither deleted nor moved to the Trash."""
    looked_at: Select[*tuple[Any, ...]] = (
        select(*columns).select_from(vectors).join(segments, segments.c.id == vectors.c.segment_id)
    )
    return (
        looked_at.join(passes, passes.c.id == segments.c.pass_id)
        .join(documents, documents.c.id == segments.c.document_id)
        .where(
            segments.c.deleted_at.is_(None), passes.c.deleted_at.is_(None), documents.c.deleted_at.is_(None)
        )
    )


@query("/api/likeness/proposals", summary="The proposals made by similarity", answer=Proposals, refusals=())
def list_proposals(
    conn: Connection,
    state: ProposalState | None = None,
    kind: ProposalKind | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> dict[str, Any]:
    """The most similar first."""
    conditions = [stands(proposals)]
    if state is not None:
        conditions.append(proposals.c.state == state)
    if kind is not None:
        conditions.append(proposals.c.kind == kind)
    order = (proposals.c.score.desc(), proposals.c.id)
    return list_rows(PROPOSALS, conn, *conditions, order=order, limit=limit, offset=offset)


def likest_judged(
    conn: Connection, library: Library, kind: str, segment_id: str
) -> list[tuple[str, str, float]]:
    """Return (hand or sign, judged segment, similarity) for the judged segments that look like this one, the
    most similar first.

    Hands and signs it is already judged to be, or that were proposed for it before, are skipped. Raises
    Conflict if it was not looked at.
    """
    table, name = JUDGED[kind]
    looks = looks_of(library)
    if segment_id not in looks.place:
        raise not_looked_at(segment_id)
    scores = looks.scores(segment_id)
    judged_already = set(
        conn.execute(select(table.c[name]).where(table.c.segment_id == segment_id, live(table))).scalars()
    )
    judged_already |= set(
        conn.execute(select(proposals.c[name]).where(proposals.c.segment_id == segment_id)).scalars()
    )
    judged = conn.execute(select(table.c[name], table.c.segment_id).where(live(table), stands(table)))
    likest = [
        (identity, like, float(scores[number]))
        for identity, like in judged
        if identity not in judged_already
        and like != segment_id
        and (number := looks.place.get(like)) is not None
    ]
    return sorted(
        (candidate for candidate in likest if candidate[2] > 0),
        key=lambda candidate: (-candidate[2], candidate[1]),
    )


def kept_fingerprints(conn: Connection, document_id: str) -> dict[str, str]:
    """Return the fingerprints of a page's vectors, by segment."""
    rows = conn.execute(
        select(vectors.c.segment_id, vectors.c.fingerprint).where(vectors.c.document_id == document_id)
    )
    return {row[0]: row[1] for row in rows}


def worker_target() -> str:
    """Return the worker that looks at pictures, as `call_worker` takes it. Raises Unavailable if none is installed."""
    entries = sorted(entry_points(group=GROUP), key=lambda target: target.name)
    if not entries:
        raise no_eyes()
    return entries[0].value
