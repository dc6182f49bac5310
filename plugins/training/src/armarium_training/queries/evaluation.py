"""Reads of evaluation: a run, and the scores on cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, query
from armarium_training import cards, errors
from armarium_training.queries.job_rows import EVALUATE, ListedJobs, job_answer, shown_job, shown_jobs
from armarium_training.schemas.evaluation import Evaluation, Evaluations, ModelScores


@query("/api/evaluation/runs/{job_id}", summary="An evaluation and its result", answer=Evaluation)
def read_evaluation(conn: Connection, engine: Engine, library: Library, job_id: str) -> dict[str, Any]:
    """Return plan and result; NotFound for an id that is not an evaluation's."""
    job = shown_job(conn, engine, library, job_id, (EVALUATE,), errors.unknown_evaluation)
    return {
        **job_answer(job),
        "plan": job.args["plan"],
        "result": job.checkpoint.get("result") if job.state == "done" else None,
    }


@query(
    "/api/evaluation/runs",
    summary="The evaluations of the project, the newest first",
    answer=Evaluations,
    refusals=(),
)
def list_evaluations(
    conn: Connection, engine: Engine, library: Library, limit: ListedJobs = 50
) -> dict[str, Any]:
    """What each measures and how it stands; its result is asked for by its id."""
    items = [
        {
            **job_answer(job),
            "created_at": job.created_at,
            "models": [candidate["model"] for candidate in job.args["plan"]["candidates"]],
            "pages": len(job.args["plan"]["pages"]),
        }
        for job in shown_jobs(conn, engine, library, (EVALUATE,), limit)
    ]
    return {"items": items, "count": len(items)}


@query(
    "/api/evaluation/scores", summary="Scores of readers, the newest first", answer=ModelScores, refusals=()
)
def list_scores(
    conn: Connection, engine: Engine, library: Library, model: str | None = None, reader: str | None = None
) -> dict[str, Any]:
    """Return the scores on cards: of one model or kind of reader, if named."""
    items = [
        score
        for score in scores_on_cards(engine, library)
        if model in (None, score["model"]) and reader in (None, score["reader"])
    ]
    items.sort(key=lambda score: (score["measured_at"], score["model"]), reverse=True)
    return {"items": items, "count": len(items)}


def scores_on_cards(engine: Engine, library: Library | None) -> Iterator[dict[str, Any]]:
    """Return every score on a card of the project or this machine; without the project, only of this machine."""
    folders = [cards.global_folder(engine), *([library.models] if library is not None else [])]
    places = {place.model_id: place for folder in folders for place in cards.cards_in(folder)}
    others = []
    if library is not None:
        others = sorted((library.models / cards.EVALUATED).glob(f"*{cards.CARD}"))
    for place in [*places.values(), *map(cards.read_card, others)]:
        for entry in cards.history_of(place.card):
            cer = entry.get("cer")
            if isinstance(cer, dict) and all(
                isinstance(entry.get(key), str) for key in ("measured_at", "job_id")
            ):
                yield {
                    "model": place.model_id,
                    "reader": str(entry.get("reader") or "linereader"),
                    "measured_at": entry["measured_at"],
                    "job_id": entry["job_id"],
                    "pages": pages if isinstance(pages := entry.get("pages"), int) else 0,
                    "checked": entry.get("checked") if isinstance(entry.get("checked"), str) else None,
                    "cer": {str(key): value for key, value in cer.items() if isinstance(value, float | int)},
                    "wer": entry.get("wer") if isinstance(entry.get("wer"), float | int) else None,
                }
