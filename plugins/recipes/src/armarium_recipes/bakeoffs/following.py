"""What a bake-off adds at the end of its evaluation: the best two compared, costs of the run, hands, and its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import JobContext
from armarium_paleography.api import hands as hand_table
from armarium_reading.api import list_episodes
from armarium_recipes.bakeoffs.files import write_file
from armarium_recipes.bakeoffs.hands import by_hand, champion_cards, hand_of_lines
from armarium_recipes.bakeoffs.table import POLICY, bakeoff_answer
from armarium_recipes.models_bakeoffs import bakeoffs
from armarium_recipes.project.saving import read_saved
from armarium_training.api import paired_bootstrap, uncounted_pages


def follow_scores(job: JobContext, kept: Mapping[str, Any]) -> None:
    """Store the outcome of a bake-off in addition to the scores on the cards; any other evaluation is left alone."""
    with job.library.db.read_all() as conn:
        stored = conn.execute(select(bakeoffs).where(bakeoffs.c.id == job.job_id)).first()
        if stored is None:
            return
        row = dict(stored._mapping)
        outcome = _outcome(conn, job, row, kept)
    if row["promote"]:
        for hand in outcome["hands"]:
            if hand["better"] is not None and hand["better"] != hand["in_use"]:
                chosen = {"hand_id": hand["hand_id"], "card": hand["better"], "bakeoff_id": job.job_id}
                job.act("project.set_champion", chosen)
                hand["promoted"] = True
    keep_outcome(job, kept, outcome)


def keep_outcome(job: JobContext, checkpoint: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
    """Write *outcome* into the row of the bake-off and then its file."""
    change = bakeoffs.update().where(bakeoffs.c.id == job.job_id).values(outcome=dict(outcome))

    def write_row(conn: Connection) -> None:
        conn.execute(change)

    job.save(checkpoint, along=write_row)
    with job.library.db.read_all() as conn:
        row = conn.execute(select(bakeoffs).where(bakeoffs.c.id == job.job_id)).one()
        answer = bakeoff_answer(conn, job.engine, job.library, row._asdict())
    write_file(job.library, {**answer, "state": "done"})


def _outcome(
    conn: Connection, job: JobContext, row: Mapping[str, Any], checkpoint: Mapping[str, Any]
) -> dict[str, Any]:
    candidates = job.args.plan["candidates"]
    lines = _lines_by_card(row, candidates, checkpoint)
    rows: dict[str, Any] = {}
    by_name = {(model["reader"], model["model"]): model for model in checkpoint["result"]["models"]}
    for candidate in row["candidates"]:
        measured = candidate["measured_as"]
        if measured is None:
            continue
        result = by_name.get((measured["reader"], measured["model"]))
        if (why := _explain_no_score(result)) is not None:
            rows[candidate["card"]] = {"not_scored": why}
        elif (
            result is not None
            and not candidate["local"]
            and (cost := _cost(conn, job, candidate, result, row["volume"])) is not None
        ):
            rows[candidate["card"]] = {"cost_usd": cost}
    rates = sorted(
        (
            sum(distance for distance, _ in own.values())
            / max(1, sum(letters for _, letters in own.values())),
            card,
        )
        for card, own in lines.items()
    )
    comparison = None
    if len(rates) >= 2:
        better, worse = rates[0][1], rates[1][1]
        both = sorted(set(lines[better]) & set(lines[worse]))
        sampled = paired_bootstrap(
            [lines[better][line] for line in both], [lines[worse][line] for line in both]
        )
        comparison = None if sampled is None else {"better": better, "worse": worse, **sampled}
    attributed = hand_of_lines(conn, {line for own in lines.values() for line in own})
    hands = by_hand(attributed, lines, {None: _in_use(conn, row, rates), **champion_cards(conn, job.job_id)})
    labels = {hand.id: hand.label for hand in conn.execute(select(hand_table.c.id, hand_table.c.label))}
    for hand in hands:
        hand["label"] = labels.get(hand["hand_id"])
    uncounted = [
        {"document_id": page, "why": why}
        for page, why in uncounted_pages(checkpoint["result"], POLICY).items()
    ]
    return {"rows": rows, "comparison": comparison, "hands": hands, "left_out": uncounted}


def _explain_no_score(result: Mapping[str, Any] | None) -> str | None:
    """Return why a candidate that was to be measured has no score; None for one that has."""
    if result is None or not result["measured"]:
        return result["why"] if result is not None else "It was not measured."
    if POLICY in result["totals"]:
        return None
    whys = [page["scores"][POLICY].get("why") for page in result["pages"]]
    return next(filter(None, whys), "Its readings could not be compared.")


def _lines_by_card(
    row: Mapping[str, Any], candidates: list[dict[str, Any]], checkpoint: Mapping[str, Any]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the lines of each measured candidate, on the pages that all of them read."""
    numbers = {(planned["reader"], planned["model"]): number for number, planned in enumerate(candidates)}
    measured = {
        (model["reader"], model["model"])
        for model in checkpoint["result"]["models"]
        if _explain_no_score(model) is None
    }
    reads: dict[str, dict[str, Any]] = {}
    for candidate in row["candidates"]:
        name = candidate["measured_as"] and (
            candidate["measured_as"]["reader"],
            candidate["measured_as"]["model"],
        )
        if name in measured:
            reads[candidate["card"]] = {
                page: read for page, read in checkpoint["read"][numbers[name]].items() if "scores" in read
            }
    common = set.intersection(*map(set, reads.values())) if reads else set()
    return {
        card: {
            segment_id: (distance, chars)
            for page in sorted(common)
            for segment_id, (distance, chars) in zip(
                by_page[page]["segment_ids"], by_page[page]["lines"][POLICY], strict=True
            )
        }
        for card, by_page in reads.items()
    }


def _cost(
    conn: Connection, job: JobContext, candidate: Mapping[str, Any], result: Mapping[str, Any], volume: int
) -> dict[str, Any] | None:
    """Return the cost of the whole volume, from the cost of the run; None if the price of a call is unknown."""
    calls = [
        call
        for call in list_episodes(conn, job_id=job.job_id, limit=1_000_000)
        if call["model"]["model"] == candidate["model"]
    ]
    paid = [call["cost"].get("usd") for call in calls]
    pages = result["speed"]["pages"]
    if not paid or None in paid or not pages:
        return None
    return {
        "value": round(sum(paid) / pages * volume, 4),
        "basis": "measured",
        "from": f"{len(paid)} calls for {pages} pages of this run, for {volume} pages.",
    }


def _in_use(conn: Connection, row: Mapping[str, Any], rates: list[tuple[float, str]]) -> str | None:
    """Return the card that the project's recipe reads with, if it was measured; otherwise the best card."""
    recipe = read_saved(conn).recipe
    cards = [
        step.card.id for step in (recipe.steps if recipe else ()) if step.job == row["step"] and step.card
    ]
    measured = [card for _, card in rates]
    return next((card for card in cards if card in measured), measured[0] if measured else None)
