"""The background work of searching: computing vectors of passages, some pages at a time."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from armarium.api import JobContext, JobKind, new_id, raw_of
from armarium_search.entries import NAMES
from armarium_search.errors import nothing_to_embed
from armarium_search.schemas import EmbedParams
from armarium_search.vectors.by_models import ModelVectors, choose_model, runs_a_model
from armarium_search.vectors.embedders import GROUP, SAMPLE, TrainableEmbedder, passages_of
from armarium_search.vectors.files import making_of, put_in_place, read
from armarium_search.vectors.served import ServedVectors, is_served
from armarium_source_model.api import page_texts

if TYPE_CHECKING:
    from armarium_search.vectors.embedders import Vectors


BATCH = 100
"""How many pages are embedded between two checkpoints."""
UNRELATED_PAIRS = 20_000


def embed_pages(job: JobContext) -> dict[str, Any]:
    """Train the embedder if that has not been done, compute a vector for every passage, and put all in place
    at once.

    Pages whose text is unchanged keep their vectors. After a kill it resumes with the next pages.
    """
    args: EmbedParams = job.args
    making = making_of(job.library, job.job_id)
    progress = {"next": 0, "after": 0, "pages": 0, **job.checkpoint}
    if not progress["next"] or not making.is_dir():
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        progress = {"next": 1, "after": 0, "pages": 0, "learned": _begin(job, args, making)}
        job.save(progress)
    trained = _embedder_of(job, args, making)
    before = None if progress["learned"] else read(job.library)
    old = {} if before is None else _rows_before(before)
    total = _count(job)
    while True:
        job.check()
        pages = _some_pages(job, progress["after"])
        if not pages:
            break
        _embed_some(trained, pages, old, making / f"part-{progress['next']:06d}")
        progress = {
            **progress,
            "next": progress["next"] + 1,
            "after": pages[-1][0],
            "pages": progress["pages"] + len(pages),
        }
        job.save(progress, done=progress["pages"], total=total)
    rows = _finish(making, args, isinstance(trained, ServedVectors | ModelVectors))
    put_in_place(job.library, making)
    return {"pages": progress["pages"], "passages": rows, "learned": progress["learned"]}


def _begin(job: JobContext, args: EmbedParams, making: Path) -> bool:
    """Train the embedder, or take over what it learned before; return whether it was trained now."""
    before = read(job.library)
    driver = job.engine.drivers.load(GROUP, args.embedder)
    if is_served(driver) or runs_a_model(driver):
        return before is None or args.learn_anew or before.source != _source_of(args)
    if before is not None and before.embedder == args.embedder and not args.learn_anew:
        for file in before.folder.iterdir():
            if file.name not in ("matrix.npy", "pages.json", "about.json"):
                shutil.copy2(file, making / file.name)
        return False
    with job.library.db.read_all() as conn:
        rows = raw_of(conn).execute(
            f"SELECT text FROM {page_texts} ORDER BY substr(fingerprint, 1, 16) LIMIT {SAMPLE}"
        )
        sample = [passage for (text,) in rows for passage in passages_of(text)][:SAMPLE]
    if not sample:
        raise nothing_to_embed()
    driver().train(sample).save(making)
    return True


def _embedder_of(
    job: JobContext, args: EmbedParams, making: Path
) -> TrainableEmbedder | ServedVectors | ModelVectors:
    driver = job.engine.drivers.load(GROUP, args.embedder)
    if is_served(driver):
        return ServedVectors(job, driver(), args)
    if runs_a_model(driver):
        return ModelVectors(job, choose_model(job.engine, job.library, driver, args.model))
    trained: TrainableEmbedder = driver().load(making)
    return trained


def _source_of(args: EmbedParams) -> dict[str, Any]:
    """Return the provider and model of the vectors, if a model computes them."""
    return {"embedder": args.embedder, "provider": args.provider, "model": args.model}


def _count(job: JobContext) -> int:
    with job.library.db.read_all() as conn:
        (count,) = raw_of(conn).execute(f"SELECT count(*) FROM {page_texts}").fetchone()
    return int(count)


def _some_pages(job: JobContext, after: int) -> list[tuple[int, str, str, str]]:
    with job.library.db.read_all() as conn:
        rows: list[tuple[int, str, str, str]] = (
            raw_of(conn)
            .execute(
                f"SELECT number, document_id, fingerprint, text FROM {page_texts} WHERE number > ? ORDER BY number "
                f"LIMIT {BATCH}",
                (after,),
            )
            .fetchall()
        )
    return rows


def _rows_before(before: Any) -> dict[tuple[str, str], Vectors]:
    """Return the previous vectors, by page and fingerprint."""
    import numpy as np

    ends = np.searchsorted(before.page_of_row, np.arange(len(before.documents) + 1))
    return {
        key: before.matrix[ends[number] : ends[number + 1]]
        for number, key in enumerate(zip(before.documents, before.fingerprints, strict=True))
    }


def _embed_some(
    trained: TrainableEmbedder | ServedVectors | ModelVectors,
    pages: list[tuple[int, str, str, str]],
    old: dict[tuple[str, str], Vectors],
    place: Path,
) -> None:
    import numpy as np

    vectors: list[Vectors] = []
    if isinstance(trained, ServedVectors | ModelVectors):
        allowed = trained.find_allowed([page[1] for page in pages])
        pages = [page for page in pages if page[1] in allowed]
        vectors = _ask_for(trained, pages, old)
    else:
        for _, document_id, fingerprint, text in pages:
            earlier_vector = old.get((document_id, fingerprint))
            vectors.append(
                trained.embed(list(passages_of(text)))
                if earlier_vector is None
                else np.asarray(earlier_vector)
            )
    if not pages:
        return
    np.save(place.with_suffix(".npy"), np.concatenate(vectors))
    chunk = {
        "documents": [page[1] for page in pages],
        "fingerprints": [page[2] for page in pages],
        "rows": [len(vector) for vector in vectors],
    }
    place.with_suffix(".json").write_bytes(orjson.dumps(chunk))


def _ask_for(
    model: ServedVectors | ModelVectors,
    pages: list[tuple[int, str, str, str]],
    old: dict[tuple[str, str], Vectors],
) -> list[Vectors]:
    """Get the vectors of pages from a model; pages whose text is unchanged keep theirs."""
    import numpy as np

    vectors = {page[1]: np.asarray(old[page[1], page[2]]) for page in pages if (page[1], page[2]) in old}
    new = [(page[1], list(passages_of(page[3]))) for page in pages if page[1] not in vectors]
    if new:
        rows = model.embed([text for text, _ in new], [text for _, texts in new for text in texts])
        at = 0
        for document_id, texts in new:
            vectors[document_id] = rows[at : at + len(texts)]
            at += len(texts)
    return [vectors[page[1]] for page in pages]


def _finish(making: Path, args: EmbedParams, by_model: bool) -> int:
    """Put the parts together; return the number of passages."""
    import numpy as np

    parts = sorted(making.glob("part-*.npy"))
    parts_read = [orjson.loads(part.with_suffix(".json").read_bytes()) for part in parts]
    pages: dict[str, list[Any]] = {
        name: [value for chunk in parts_read for value in chunk[name]]
        for name in ("documents", "fingerprints", "rows")
    }
    rows = int(sum(pages["rows"]))
    matrix: Vectors
    shapes = [np.load(part, mmap_mode="r") for part in parts]
    width = shapes[0].shape[1] if shapes else 1
    if rows:
        matrix = np.lib.format.open_memmap(making / "matrix.npy", "w+", np.float32, (rows, width))
        at = 0
        for part in shapes:
            matrix[at : at + len(part)] = part
            at += len(part)
        matrix.flush()
    else:
        matrix = np.zeros((0, width), dtype=np.float32)
        np.save(making / "matrix.npy", matrix)
    about = {
        "made": new_id(),
        "embedder": args.embedder,
        "unrelated": _measure_unrelated(np.asarray(matrix)),
        "source": _source_of(args) if by_model else None,
    }
    (making / "pages.json").write_bytes(orjson.dumps(pages))
    (making / "about.json").write_bytes(orjson.dumps(about))
    for part in parts:
        part.unlink()
        part.with_suffix(".json").unlink()
    return rows


def _measure_unrelated(matrix: Vectors) -> float:
    """Return the cosine that one in a hundred random pairs of passages reaches."""
    import numpy as np

    if len(matrix) < 2:
        return 0.5
    chance = np.random.default_rng(len(matrix))
    left, right = chance.integers(0, len(matrix), (2, UNRELATED_PAIRS))
    different = left != right
    cosines = np.einsum("ij,ij->i", matrix[left[different]], matrix[right[different]])
    return float(np.clip(np.quantile(cosines, 0.99), 0.05, 0.95))


EMBEDS = JobKind(
    name="embeds",
    history="embeddings",
    lane="local-model",
    also_lanes=("network",),
    summary="Compute vectors for the passages of all pages, so that similar passages can be found.",
    run=embed_pages,
    args=EmbedParams,
)

JOBS = (EMBEDS, NAMES)
