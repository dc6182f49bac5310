"""Compares two runs: what each made of a document, line by line for transcriptions, item by item for anything else."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import Engine, query
from armarium_documents.api import artifacts
from armarium_source_model.api import CannotScore, normalise, score
from armarium_workflows.checkpoints import pages_done, pages_of
from armarium_workflows.errors import not_done, same_run
from armarium_workflows.hookspecs import armarium_workflows_found_in_run
from armarium_workflows.queries import run_row
from armarium_workflows.schemas.answers import Comparison

SIDES = (("left", "right"), ("right", "left"))
Thread = Annotated[str, Query(min_length=1, max_length=64)]


@query(
    "/api/workflow-execution/comparisons", summary="Compare two runs", answer=Comparison, refusals=(404, 409)
)
def compare_runs(conn: Connection, engine: Engine, left: Thread, right: Thread) -> dict[str, Any]:
    """What they made is paired by document and kind, in the order of the runs' pages. 422 for the same run twice, 409
    for one that is not done.
    """
    if left == right:
        raise same_run()
    runs = {"left": run_row(conn, left), "right": run_row(conn, right)}
    for run in runs.values():
        if run["status"] != "done":
            raise not_done(run["workflow_name"], run["status"])
    mine, theirs = _artifacts_of(conn, left), _artifacts_of(conn, right)
    pairs = [_pair(key, mine[key], theirs[key]) for key in mine if key in theirs]
    unpaired = [
        {"document_id": key[0], "artifact_type": key[1], "side": side, "artifact_id": artifact["id"]}
        for side, own, other in (("left", mine, theirs), ("right", theirs, mine))
        for key, artifact in own.items()
        if key not in other
    ]
    did = {"left": set(pages_done(conn, left)), "right": set(pages_done(conn, right))}
    by_side = {
        side: dict(ChainMap(*map(dict, engine.points.ask(armarium_workflows_found_in_run, conn, run))))
        for side, run in (("left", left), ("right", right))
    }
    for key in dict.fromkeys((*by_side["left"], *by_side["right"])):
        document_id, kind = key
        # A page that only one run did cannot be compared: the other missed nothing on it.
        lone = next(
            (side for side, other in SIDES if key not in by_side[other] and document_id not in did[other]),
            None,
        )
        if lone is None:
            pairs.append(_compare_found(key, by_side["left"].get(key, {}), by_side["right"].get(key, {})))
        else:
            unpaired.append(
                {"document_id": document_id, "artifact_type": kind, "side": lone, "artifact_id": None}
            )
    # Pages are done side by side, so the order in which results were written is not an order of pages.
    places = {page: place for place, page in enumerate((*pages_of(conn, left), *pages_of(conn, right)))}
    for rows in (pairs, unpaired):
        rows.sort(key=lambda row: places.get(row["document_id"], len(places)))
    return {**runs, "pairs": pairs, "unpaired": unpaired}


def _compare_found(key: tuple[str, str], left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the items of two runs that both did a document differ: one without any has missed them all."""
    return {
        "document_id": key[0],
        "artifact_type": key[1],
        "left_artifact_id": None,
        "right_artifact_id": None,
        "lines": [],
        "rate": None,
        "only_left": [item for name, item in left.items() if name not in right],
        "only_right": [item for name, item in right.items() if name not in left],
        "both": len(left.keys() & right.keys()),
    }


def _artifacts_of(conn: Connection, thread_id: str) -> dict[tuple[str, str], Any]:
    """Return (document, kind) to the last artifact of that kind which a run wrote."""
    artifact = artifacts.c
    statement = select(
        artifact.id, artifact.document_id, artifact.artifact_type, artifact.content, artifact.data
    ).where(artifact.run_id == thread_id)
    rows = conn.execute(statement.order_by(artifact.created_at, artifact.id))
    return {(row.document_id, row.artifact_type): row._asdict() for row in rows}


def _pair(key: tuple[str, str], left: Any, right: Any) -> dict[str, Any]:
    ids = {"left_artifact_id": left["id"], "right_artifact_id": right["id"]}
    if key[1] != "transcription":
        return {**_compare_found(key, _items(left), _items(right)), **ids}
    mine, theirs = left["content"] or "", right["content"] or ""
    lines = differences(mine.splitlines(), theirs.splitlines())
    both = sum(line["op"] == "equal" for line in lines)
    text = {"lines": lines, "rate": error_rate(mine, theirs), "both": both}
    return {**_compare_found(key, {}, {}), **ids, **text}


def differences(left: Sequence[str], right: Sequence[str]) -> list[dict[str, Any]]:
    """Return the blocks of lines of two texts that are equal, replaced, inserted or deleted, numbered from 0."""
    from rapidfuzz.distance import Levenshtein

    rows: list[dict[str, Any]] = []
    composed = ([normalise(line, "diplomatic") for line in lines] for lines in (left, right))
    for step in Levenshtein.opcodes(*composed):
        mine, theirs = range(step.src_start, step.src_end), range(step.dest_start, step.dest_end)
        for number in range(max(len(mine), len(theirs))):
            left_line = mine[number] if number < len(mine) else None
            right_line = theirs[number] if number < len(theirs) else None
            rows.append(
                {
                    "op": step.tag,
                    "left_line": left_line,
                    "right_line": right_line,
                    "left_text": left[left_line] if left_line is not None else None,
                    "right_text": right[right_line] if right_line is not None else None,
                }
            )
    return rows


def error_rate(left: str, right: str) -> float | None:
    """Return the character error rate of *right* against *left*; None where no number can be given."""
    try:
        return score(left, right).rate
    except CannotScore:
        return None


def _items(artifact: Any) -> dict[str, Any]:
    """Return the items of an extraction artifact, each by its own text."""
    data = artifact["data"] or {}
    listed = [item for value in data.values() if isinstance(value, list) for item in value]
    if not listed and artifact["content"]:
        listed = artifact["content"].splitlines()
    return {orjson.dumps(item, option=orjson.OPT_SORT_KEYS).decode(): item for item in listed}
