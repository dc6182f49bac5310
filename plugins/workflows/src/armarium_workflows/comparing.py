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
from armarium_workflows.checkpoints import pages_done
from armarium_workflows.errors import not_done, same_run
from armarium_workflows.hookspecs import armarium_workflows_found_in_run
from armarium_workflows.queries import run_row
from armarium_workflows.schemas.answers import Comparison

SIDES = (("left", "right"), ("right", "left"))
Thread = Annotated[str, Query(min_length=1, max_length=64)]


@query(
    "/api/workflow-execution/comparisons",
    summary="Compare two runs",
    answer=Comparison,
    refusals=(404, 409),
)
def compare_runs(conn: Connection, engine: Engine, left: Thread, right: Thread) -> dict[str, Any]:
    """What they made is paired by document and kind. 422 for the same run twice, 409 for one that is not
    done.
    """
    if left == right:
        raise same_run()
    shown = {"left": run_row(conn, left), "right": run_row(conn, right)}
    for run in shown.values():
        if run["status"] != "done":
            raise not_done(run["workflow_name"], run["status"])
    mine, theirs = _artifacts_of(conn, left), _artifacts_of(conn, right)
    pairs = [_pair(key, mine[key], theirs[key]) for key in mine if key in theirs]
    unpaired = [
        {"document_id": key[0], "artifact_type": key[1], "side": side, "artifact_id": one["id"]}
        for side, own, other in (("left", mine, theirs), ("right", theirs, mine))
        for key, one in own.items()
        if key not in other
    ]
    did = {"left": set(pages_done(conn, left)), "right": set(pages_done(conn, right))}
    found = {
        side: dict(ChainMap(*map(dict, engine.points.ask(armarium_workflows_found_in_run, conn, run))))
        for side, run in (("left", left), ("right", right))
    }
    for key in dict.fromkeys((*found["left"], *found["right"])):
        document_id, kind = key
        # A page that only one run did cannot be compared: the other missed nothing on it.
        lone = next((a for a, b in SIDES if key not in found[b] and document_id not in did[b]), None)
        if lone is None:
            pairs.append(_compare_found(key, found["left"].get(key, {}), found["right"].get(key, {})))
        else:
            unpaired.append(
                {"document_id": document_id, "artifact_type": kind, "side": lone, "artifact_id": None}
            )
    return {**shown, "pairs": pairs, "unpaired": unpaired}


def _compare_found(key: tuple[str, str], left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a family reports of one document and kind as results of two runs that both did it: the one
    without results has missed them all.
    """
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
    columns = (
        artifacts.c.id,
        artifacts.c.document_id,
        artifacts.c.artifact_type,
        artifacts.c.content,
        artifacts.c.data,
    )
    rows = conn.execute(
        select(*columns)
        .where(artifacts.c.run_id == thread_id)
        .order_by(artifacts.c.created_at, artifacts.c.id)
    )
    return {(row.document_id, row.artifact_type): row._asdict() for row in rows}


def _pair(key: tuple[str, str], left: Any, right: Any) -> dict[str, Any]:
    lines: list[dict[str, Any]] = []
    rate: float | None = None
    only_left: list[Any] = []
    only_right: list[Any] = []
    if key[1] == "transcription":
        mine, theirs = (left["content"] or "").splitlines(), (right["content"] or "").splitlines()
        lines = differences(mine, theirs)
        rate = error_rate(left["content"] or "", right["content"] or "")
        both = sum(line["op"] == "equal" for line in lines)
    else:
        own, other = _items(left), _items(right)
        only_left = [value for name, value in own.items() if name not in other]
        only_right = [value for name, value in other.items() if name not in own]
        both = len(own.keys() & other.keys())
    return {
        "document_id": key[0],
        "artifact_type": key[1],
        "left_artifact_id": left["id"],
        "right_artifact_id": right["id"],
        "lines": lines,
        "rate": rate,
        "only_left": only_left,
        "only_right": only_right,
        "both": both,
    }


def differences(left: Sequence[str], right: Sequence[str]) -> list[dict[str, Any]]:
    """Return the blocks of lines of two texts that are equal, replaced, inserted or deleted, numbered from 0."""
    from rapidfuzz.distance import Levenshtein

    found: list[dict[str, Any]] = []
    for step in Levenshtein.opcodes(left, right):
        mine, theirs = range(step.src_start, step.src_end), range(step.dest_start, step.dest_end)
        for number in range(max(len(mine), len(theirs))):
            at = mine[number] if number < len(mine) else None
            there = theirs[number] if number < len(theirs) else None
            found.append(
                {
                    "op": step.tag,
                    "left_line": at,
                    "right_line": there,
                    "left_text": left[at] if at is not None else None,
                    "right_text": right[there] if there is not None else None,
                }
            )
    return found


def error_rate(left: str, right: str) -> float | None:
    """Return the edit distance from *left* to *right* as a share of the characters of *left*; None if it has none."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(left, right) / len(left) if left else None


def _items(artifact: Any) -> dict[str, Any]:
    """Return the items of an extraction artifact, each by its own text."""
    data = artifact["data"] or {}
    listed = [item for value in data.values() if isinstance(value, list) for item in value]
    if not listed and artifact["content"]:
        listed = artifact["content"].splitlines()
    return {orjson.dumps(item, option=orjson.OPT_SORT_KEYS).decode(): item for item in listed}
