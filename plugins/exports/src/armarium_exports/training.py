"""Training samples from the episode ledger: what a model was asked, and what the answer should have been."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Connection, select

from armarium.api import Engine, Library, Principal, is_among
from armarium_documents.api import representations
from armarium_exports.errors import wrong_ending
from armarium_exports.places import file_place, whole_file
from armarium_exports.records import TrainingParams
from armarium_exports.selection import select_documents
from armarium_reading.api import episodes, standing_of

_BATCH = 200


def write_training(
    engine: Engine, library: Library, principal: Principal, p: TrainingParams
) -> dict[str, Any]:
    """Write one sample per recorded call that was answered; gold if a person's correction of it is in force."""
    place = p.output_path.real
    if place.suffix != ".jsonl":
        raise wrong_ending(str(place), ".jsonl")
    file_place(place, overwrite=p.overwrite)
    samples = gold = 0
    with library.db.read() as conn:
        selection = select_documents(library, conn, principal)
        query = select(episodes).where(episodes.c.kind == "model_call").order_by(episodes.c.seq)
        if p.use_case is not None:
            query = query.where(episodes.c.use_case == p.use_case)
        result = conn.execute(query)
        with whole_file(place) as file:
            while rows := result.fetchmany(_BATCH):
                for row in rows:
                    if row.document_id not in selection.ids:
                        continue
                    sample = sample_of(conn, row._asdict())
                    if sample is None or (p.gold_only and not sample["gold"]):
                        continue
                    file.write(orjson.dumps(sample) + b"\n")
                    samples += 1
                    gold += sample["gold"]
            size = file.tell()
    return {
        "output_path": str(place),
        "sample_count": samples,
        "gold_count": gold,
        "bytes_written": size,
        "withheld": selection.omissions,
    }


def sample_of(conn: Connection, episode: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the sample of one recorded call; None for a call that failed or answered nothing."""
    exchange = episode["exchange"]
    output = exchange.get("output")
    if "error" in exchange or not isinstance(output, str) or not output:
        return None
    corrected = _correct_output(conn, episode, output)
    messages = [{"role": "system", "content": exchange["system"]}] if exchange.get("system") else []
    messages.append({"role": "user", "content": exchange.get("prompt") or ""})
    messages.append({"role": "assistant", "content": output if corrected is None else corrected})
    sample: dict[str, Any] = {"messages": messages, "gold": corrected is not None}
    if corrected is not None and corrected != output:
        sample["rejected"] = output
    return sample | {
        "episode_id": episode["id"],
        "use_case": episode["use_case"],
        "model": {
            "provider": episode["provider"],
            "model": episode["model"],
            "version": episode["model_version"],
        },
        "subject": {
            "kind": episode["subject_kind"],
            "id": episode["document_id"],
            "segment_id": episode["segment_id"],
        },
    }


def _correct_output(conn: Connection, episode: Mapping[str, Any], output: str) -> str | None:
    """Return the answer as people corrected it; None if nothing of it is corrected.

    If a call was about one segment, the correction is the answer. In the answer of a call about many, each
    corrected line replaces what the model read there, if that occurs in the answer exactly once.
    """
    corrections = standing_of(conn, episode["id"]).corrections
    whole = corrections.get(episode["segment_id"], corrections.get(None))
    if whole is not None or not corrections:
        return whole
    text = output
    is_json = output.lstrip()[:1] in ("{", "[")
    read = _read_then(conn, episode, corrections)
    for segment_id in corrections:
        if segment_id not in read:
            return None
        text_before, right = read[segment_id]
        if is_json:
            text_before, right = (orjson.dumps(words).decode()[1:-1] for words in (text_before, right))
        lines = text.split("\n")
        if lines.count(text_before) == 1:
            lines[lines.index(text_before)] = right
            text = "\n".join(lines)
        elif text_before and text.count(text_before) == 1:
            text = text.replace(text_before, right)
        else:
            # An answer that is only partly corrected is not gold.
            return None
    return text


def _read_then(
    conn: Connection, episode: Mapping[str, Any], corrections: Mapping[str | None, str]
) -> dict[str, tuple[str, str]]:
    """Return segment to what this call read there and what a person replaced it with."""
    reading = representations.c
    query = select(reading.segment_id, reading.content).where(
        is_among(reading.segment_id, [correction for correction in corrections if correction]),
        reading.producer_model == episode["model"],
        reading.provenance_kind != "human",
    )
    if episode["job_id"] is not None:
        query = query.where(reading.producer_run_id.in_([episode["job_id"], episode["thread_id"]]))
    return {
        segment_id: (text_before, corrections[segment_id])
        for segment_id, text_before in conn.execute(query.order_by(reading.created_at, reading.id))
    }
