"""The pages nearest to a query: every passage is compared, and what the caller may not see is never among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Engine, Library, ServiceError, raw_of, withheld_pages
from armarium_search.schemas import SearchParams
from armarium_search.vectors.embedders import GROUP, normalise_rows
from armarium_search.vectors.files import KeptVectors, read
from armarium_source_model.api import page_texts

if TYPE_CHECKING:
    import numpy as np


NO_VECTORS = (
    "The passages of this project have no vectors, so similarity was not searched. `armarium action "
    "search.embed` or the job make-a-vector computes them."
)


class Standing(NamedTuple):
    """The state of the vectors for the pages a caller sees: how many have some, and how many are stale or missing."""

    seen: frozenset[str]
    stale: int
    missing: int


def standing_of(library: Library, conn: Connection, vectors: KeptVectors | None) -> Standing:
    """Return the state of the vectors for the pages that *conn* sees; cached until something is written."""
    key = (library.db.commits, "" if vectors is None else vectors.made)
    sees_all = withheld_pages(conn) is None
    cached = library.held.get(_HELD)
    if sees_all and cached is not None and cached[0] == key:
        now_standing: Standing = cached[1]
        return now_standing
    made_of = {} if vectors is None else dict(zip(vectors.documents, vectors.fingerprints, strict=True))
    pages_seen: list[str] = []
    stale = missing = 0
    for document_id, fingerprint in raw_of(conn).execute(
        f"SELECT document_id, fingerprint FROM {page_texts}"
    ):
        before = made_of.get(document_id)
        if before is None:
            missing += 1
        else:
            pages_seen.append(document_id)
            stale += before != fingerprint
    standing = Standing(frozenset(pages_seen), stale, missing)
    if sees_all:
        library.held[_HELD] = (key, standing)
    return standing


def state_of(library: Library, conn: Connection) -> dict[str, Any]:
    """Return what is searched: pages with vectors, those whose text has changed since, and those without; as
    the caller sees them.
    """
    vectors = read(library)
    standing = standing_of(library, conn, vectors)
    state = {"pages": len(standing.seen), "stale": standing.stale, "missing": standing.missing}
    if vectors is None:
        return {"embedder": None, **state, "min_score": None, "notice": NO_VECTORS}
    notice = None
    if standing.stale or standing.missing:
        notice = (
            f"{standing.stale + standing.missing} pages have text that is not in their vectors yet and is "
            "found only by its words. `armarium action search.embed` updates the vectors."
        )
    return {"embedder": vectors.embedder, **state, "min_score": 0.55, "notice": notice}


def nearest(
    library: Library, engine: Engine, conn: Connection, text: str, params: SearchParams, most: int
) -> dict[str, float] | None:
    """Return documents by the similarity of their best passage to *text*; None if nothing can be compared."""
    vectors = read(library)
    if vectors is None or not len(vectors.matrix):
        return None
    vector = _vector_of(library, engine, vectors, text, params)
    if vector is None or len(vector) != vectors.matrix.shape[1]:
        return None
    if not vector.any():
        return {}
    return _rank_documents(
        vectors,
        vectors.likeness(vectors.matrix @ vector),
        standing_of(library, conn, vectors).seen,
        params.min_score,
        most,
    )


def _vector_of(
    library: Library, engine: Engine, vectors: KeptVectors, text: str, params: SearchParams
) -> Any:
    """Return the vector of a query: computed from what was learned of the project, or by a model before."""
    if vectors.source is not None:
        import numpy as np

        return (
            None if params.vector is None else normalise_rows(np.array([params.vector], dtype=np.float32))[0]
        )
    rows = embed_texts(library, engine, [text])
    return None if rows is None else rows[0]


def embed_texts(library: Library, engine: Engine, texts: Sequence[str]) -> Any:
    """Return a row of length 1 for each of *texts*, by what was learned from the project (zeros for one that has
    nothing in common with it); None if the project has no vectors, or a model computes them.
    """
    vectors = read(library)
    if vectors is None or vectors.source is not None:
        return None
    try:
        return engine.drivers.load(GROUP, vectors.embedder)().load(vectors.folder).embed(texts)
    except (ServiceError, OSError, ValueError):
        return None


_HELD = "search.vectors.standing"


def _rank_documents(
    vectors: KeptVectors,
    likeness: np.ndarray[Any, Any],
    visible_pages: frozenset[str],
    min_score: float,
    most: int,
) -> dict[str, float]:
    import numpy as np

    near = np.flatnonzero(likeness >= min_score)
    scores: dict[str, float] = {}
    for row in near[np.argsort(-likeness[near], kind="stable")]:
        document_id = vectors.documents[vectors.page_of_row[row]]
        if document_id in visible_pages and document_id not in scores:
            scores[document_id] = float(likeness[row])
            if len(scores) == most:
                break
    return scores
