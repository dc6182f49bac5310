"""A bake-off as it is answered: its row, the scores on the models' cards, the state of its job; the best
candidate first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import FINISHED, Engine, Library, find_job, is_among
from armarium_documents.api import documents
from armarium_recipes.bakeoffs.rows import carbon_of
from armarium_training.api import entry_of_run

POLICY = "diplomatic"
"""The policy by which candidates are ranked: as written."""
TIE = 0.01
GONE = "Its job is no longer in the queue, and nothing was measured."


def bakeoff_answer(
    conn: Connection, engine: Engine, library: Library, row: Mapping[str, Any]
) -> dict[str, Any]:
    """Return *row* of the bake-off table as a Bakeoff. Pages that the caller may not see, or that no longer
    exist, are left out.
    """
    outcome: dict[str, Any] = row["outcome"] or {}
    left_out = [*row["left_out"], *outcome.get("left_out", ())]
    uncounted = {page["document_id"] for page in left_out}
    pages = [page for page in row["pages"] if page["document_id"] not in uncounted]
    ids = [page["document_id"] for page in [*row["pages"], *row["left_out"]]]
    query = select(documents.c.id, documents.c.name).where(is_among(documents.c.id, ids))
    names = {page.id: page.name for page in conn.execute(query)}
    state, reason = _state(conn, row["id"], outcome)
    candidates = [
        _score_candidates(engine, library, row["id"], candidate, outcome, names)
        for candidate in row["candidates"]
    ]
    return {
        "id": row["id"],
        "job_id": row["id"],
        "state": state,
        "reason": reason,
        **{key: row[key] for key in ("step", "started_at", "material", "volume")},
        "lines": sum(page["lines"] for page in pages),
        "pages": [
            {**page, "name": names[page["document_id"]]} for page in pages if page["document_id"] in names
        ],
        "left_out": [page for page in left_out if page["document_id"] in names],
        "candidates": rank_candidates(candidates, row["step"], state),
        "comparison": outcome.get("comparison"),
        "hands": outcome.get("hands", []),
    }


def _state(conn: Connection, job_id: str, outcome: Mapping[str, Any]) -> tuple[str, str | None]:
    job = find_job(conn, job_id)
    if job is not None:
        return job.state, job.reason
    return ("done", None) if outcome else ("failed", GONE)


def _score_candidates(
    engine: Engine,
    library: Library,
    job_id: str,
    candidate: Mapping[str, Any],
    outcome: Mapping[str, Any],
    names: Mapping[str, str | None],
) -> dict[str, Any]:
    measured = candidate["measured_as"]
    row: dict[str, Any] = {
        "carbon_from": None,
        **{key: value for key, value in candidate.items() if key not in ("measured_as", "power")},
        **dict.fromkeys(("cer", "interval", "pages_cer", "wer", "pages_per_hour"), None),
        **dict.fromkeys(("lines_found", "lines_checked", "extra_lines"), None),
        "tied": False,
    }
    row |= outcome.get("rows", {}).get(candidate["card"], {})
    if measured is None:
        return row
    entry = entry_of_run(
        engine, library, job_id, measured["reader"], measured["model"], trained=measured["trained"]
    )
    if entry is None or POLICY not in entry["cer"]:
        return row
    power, worked = candidate.get("power"), entry.get("cpu_seconds_per_page")
    return {
        **row,
        **(carbon_of(power, worked) if power is not None and worked is not None else {}),
        "cer": entry["cer"],
        "interval": (entry.get("interval") or {}).get(POLICY),
        "wer": entry.get("wer"),
        "pages_per_hour": entry.get("pages_per_hour"),
        "pages_cer": [page for page in entry.get("by_page", ()) if page["document_id"] in names],
    }


def rank_candidates(candidates: Sequence[dict[str, Any]], step: str, state: str) -> list[dict[str, Any]]:
    """Return the rows, best first; those without a score last, each with the reason once the job has ended."""
    by_lines = step == "find-lines"

    def is_scored(row: Mapping[str, Any]) -> bool:
        return row["lines_found"] is not None if by_lines else POLICY in (row["cer"] or {})

    def worth(row: Mapping[str, Any]) -> tuple[Any, ...]:
        if not is_scored(row):
            return (1,)
        if by_lines:
            return (0, -row["lines_found"], row["extra_lines"], row["card"])
        return (0, row["cer"][POLICY], row["rule_rank"] or 1_000_000, row["card"])

    best = min((row["cer"][POLICY] for row in candidates if not by_lines and is_scored(row)), default=None)
    for row in candidates:
        if is_scored(row):
            row["not_scored"] = None
            row["tied"] = best is not None and row["cer"][POLICY] - best <= TIE + 1e-12
        elif row["not_scored"] is None and state in FINISHED:
            row["not_scored"] = (
                "The bake-off ended before it was scored."
                if state != "done"
                else "Its card has no score from this bake-off."
            )
    order = {id(row): number for number, row in enumerate(candidates)}
    return sorted(
        candidates, key=lambda row: (worth(row)[0], worth(row) if is_scored(row) else (order[id(row)],))
    )
