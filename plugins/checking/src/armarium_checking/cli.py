"""The commands of checking: disputed lines with their pictures, errors like corrected ones, and samples by which an error rate
is stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    carry_out,
    file_name,
    id_of,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import DOCUMENT, Scope, scope_of

commands = Commands(Topic.lines)
quality = commands.group("quality", "How many errors a selection has, from lines drawn at random.")

MOST_LISTED = 1_000
"""How many disputed lines are listed; the verdicts contain all of them."""

DISPUTED = ("correct", "reject")

SENT = ("segment_id", "reading_id", "char_start", "char_end", "read", "proposed")
"""What of a proposal is sent with the decision about it."""

_WAY = Finder(lambda _, is_read: "confirm" if is_read else "blind")
"""How the lines of a sample are answered."""


@commands.example("check Letters --out disputed")
def check(
    ids: Scope = None,
    out: Annotated[Path | None, "--out, -o: A folder for the pictures of the disputed lines."] = None,
    model: Annotated[str | None, "--of: Check the newest pass of this model or reader."] = None,
) -> None:
    """Check readings without a model: list the disputed lines, with the reasons."""
    with project_session() as session:
        params: dict[str, Any] = {"layer": "readings", "scope_ids": scope_of(session, ids)}
        params["checker"] = {"provider": "builtin", "model": "agreement"}
        if model is not None:
            params["pass_model"] = model
        outcome = carry_out(session, "check.run", params, "Check")
        listed = session.get("/api/check/verdicts", run_id=outcome["job_id"], limit=MOST_LISTED)["items"]
        disputed = [verdict for verdict in listed if verdict["verdict"] in DISPUTED]
        for verdict in disputed:
            verdict["text"] = text_of(session, verdict)
            verdict["picture"] = None if out is None else picture_of(session, verdict, out)

    def words() -> None:
        typer.echo(f"Checked {plural(outcome['total'], 'line')}: {outcome['confirm']} confirmed, {len(disputed)} "
            f"disputed, {outcome['unanswered']} without evidence either way.")  # fmt: skip
        for verdict in disputed:
            typer.echo(f"  {verdict['text']}")
            if verdict["correction"] is not None:
                typer.echo(f"    suggested: {verdict['correction']}")
            typer.echo(
                f"    {verdict['reasons']}" + (f" ({verdict['picture']})" if verdict["picture"] else "")
            )

    answer({**outcome, "disputed": disputed}, words)


def _wrong_letters(line: dict[str, Any]) -> str:
    if line["confidence"] is None and not line["disagreement"]:
        return "not known"
    return f"{line['expected'] + line['disagreement'] / 2:.1f}"


@commands.asks(
    "disputed Letters",
    "GET /api/disputed",
    columns=(
        "line=segment_id",
        ("wrong letters", _wrong_letters),
        ("rare words", lambda line: ", ".join(line["rare"])),
        "text",
    ),
    nothing="No line is left whose text no person wrote or confirmed.",
)
def list_disputed(
    scope_id: Annotated[str | None, "PLACE: A page or folder, by name, path or id.", DOCUMENT] = None,
    limit: Annotated[int, "How many lines."] = 20,
) -> None:
    """List lines in the order in which a correction helps most: where the reader was not sure, or readers disagree."""


@commands.example("proposals --accept ID@12")
def proposals(
    line: Annotated[str | None, "Id of a corrected line; default: the newest corrections."] = None,
    accept: Annotated[
        list[str] | None,
        "--accept ID@PLACE: A proposal that is right, or `all` that are listed. May be repeated.",
    ] = None,
    reject: Annotated[
        list[str] | None, "--reject ID@PLACE: One that is not, never to be offered again. May be repeated."
    ] = None,
    out: Annotated[Path | None, "--out, -o: A folder for the pictures of the lines."] = None,
    least: Annotated[float, "Only proposals at least as probable, 0 to 1."] = 0.5,
    ink: Annotated[bool, "--ink: Weigh the likeliest by the ink too, which takes some seconds."] = False,
) -> None:
    """List other lines that probably have an error that you corrected; with an option, decide about them in one step."""
    with project_session() as session:
        filters = {"segment_id": line and id_of(line), "least": least, "ink": ink, "limit": 200}
        offered = session.get("/api/check/proposals", **filters)["items"]
        for offer in offered:
            offer["place"] = f"{offer['segment_id']}@{offer['char_start']}"
        decided = None
        if accept or reject:
            decisions = {"accepted": _find_offers(offered, accept), "rejected": _find_offers(offered, reject)}
            decided = session.post("/api/check/proposals", decisions)
        if out is not None and decided is None:
            for offer in offered:
                offer["picture"] = picture_of(session, {**offer, "verdict": "proposal"}, out)

    def words() -> None:
        if decided is not None:
            typer.echo(
                f"Corrected {plural(len(decided['representation_ids']), 'line')}; {plural(decided['rejected'], 'proposal')} "
                f"not offered again. Take it back with: armarium undo {decided['audit_id']}"
            )
        elif not offered:
            typer.echo(
                "No other line seems to have an error that was corrected; --least 0.2 lists less likely ones."
            )
        for offer in () if decided is not None else offered:
            marked = f"{offer['text'][: offer['char_start']]}[{offer['read']} → {offer['proposed']}]{offer['text'][offer['char_end'] :]}"
            typer.echo(f"{offer['place']}  {offer['probability']:.2f}  {marked}")

    answer({"items": offered} if decided is None else decided, words)


def _find_offers(offered: list[dict[str, Any]], places: list[str] | None) -> list[dict[str, Any]]:
    """Return what is sent of the proposals at *places*."""
    offers = {offer["place"]: {name: offer[name] for name in SENT} for offer in offered}
    chosen = list(offers) if places == ["all"] else places or []
    if unknown := [place for place in chosen if place not in offers]:
        raise Refused(f"{unknown[0]} is not among what is proposed now; armarium proposals lists it.")
    return [offers[place] for place in chosen]


def text_of(session: Session, verdict: dict[str, Any]) -> str:
    """Return the reading that was checked."""
    items = session.get(f"/api/segments/{verdict['segment_id']}/readings")["items"]
    return next((item["content"] or "" for item in items if item["id"] == verdict["target_id"]), "")


def picture_of(session: Session, verdict: dict[str, Any], folder: Path) -> str | None:
    """Write the line's picture to a file in *folder*; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / file_name(f"{verdict['verdict']}-{verdict['segment_id']}.png")
    write_file(place, session.raw("GET", f"/api/segments/{verdict['segment_id']}/picture"), overwrite=True)
    return str(place)


def _say_drawn(sample: dict[str, Any]) -> Iterator[str]:
    yield f"Sample {sample['id']}: {plural(sample['lines'], 'line')} of {sample['population']:,} drawn with the seed {sample['seed']}."
    if sample["taught"]:
        yield f"{plural(sample['taught'], 'line')} taught the reader and cannot measure it; they were left out."
    yield f"Continue with: armarium quality next {sample['id']}"


@quality.asks("draw Letters --half-width 0.01", "POST /api/quality/samples", says=_say_drawn)
def draw(
    scope_ids: Scope = None,
    half_width: Annotated[float, "Wanted half-width of the 95 % interval: 0.01 is one in a hundred."] = 0.01,
    lines: Annotated[int | None, "How many lines to draw; default: as the half-width needs."] = None,
    reader: Annotated[
        str | None, "--of: Measure this model or reader, instead of the texts that count."
    ] = None,
    query: Annotated[str | None, "Only pages that this search finds."] = None,
    seed: Annotated[int, "The same seed draws the same lines."] = 1,
    way: Annotated[
        bool, "--confirm: Compare with what was read, instead of transcribing blind.", _WAY
    ] = False,
) -> None:
    """Draw lines at random, to transcribe them with `armarium quality next` and `answer`."""


@quality.asks(
    "list",
    "GET /api/quality/samples",
    columns=("id", "lines", "seed", "drawn=created_at", "by=created_by"),
    nothing="No sample was drawn yet: armarium quality draw draws one.",
)
def list_samples() -> None:
    """List the samples that were drawn."""


@quality.example("next SAMPLE --picture line.png")
def next_line(
    sample: Annotated[str, "The id of a sample."],
    picture: Annotated[Path | None, "--picture, -p: Write the line's picture to this PNG file."] = None,
    after: Annotated[int, "Leave out the lines up to this number."] = -1,
) -> None:
    """Show the next line of a sample to answer."""
    with project_session() as session:
        line = session.get(f"/api/quality/samples/{sample}/next", after=after)["line"]
        if line is not None and picture is not None:
            write_file(picture, session.raw("GET", line["picture"]), overwrite=True)
    if line is None:
        answer(
            {"line": None}, f"Every line is answered: armarium quality rate {sample} states the error rate."
        )
        return
    words = [f"Line {line['number'] + 1} of the sample; {line['left']:,} left."]
    if line["read_text"] is not None:
        words.append(f"Read as: {line['read_text']}")
    if picture is None:
        words.append(f"See it with: armarium quality next {sample} --picture line.png")
    words.append(f"Answer it with: armarium quality answer {line['line_id']} TEXT")
    answer({"line": line}, "\n".join(words))


@quality.asks("answer LINE 'Dear Sir'", "POST /api/quality/lines/{line}", says="Answered.")
def answer_line(
    line: Annotated[str, "The id of a line of a sample."],
    text: Annotated[str | None, "TEXT: What stands in the line."] = None,
    confirmed: Annotated[bool, "It says what was read; only where the sample is not blind."] = False,
    illegible: Annotated[bool, "Nobody can read it; it does not count."] = False,
    replace: Annotated[bool, "Replace the answer that was given."] = False,
) -> None:
    """Say what stands in a line of a sample."""


def _say_rate(statement: dict[str, Any]) -> Iterator[str]:
    if statement["statement"] is None:
        yield f"{statement['answered']} of {statement['lines']} lines are answered: too few for an error rate."
        return
    yield statement["statement"]
    yield f"{plural(statement['cer']['more_lines'], 'more line')} would halve the interval."
    if statement["lines_to_width"]:
        yield f"{plural(statement['lines_to_width'], 'more line')} would bring it to the wanted half-width of {statement['half_width']:g}."
    for stratum in statement["strata"]:
        if stratum["bad"]:
            yield f"Bad: {stratum['what']} {stratum['name']}, {100 * stratum['cer']:.2f} % ({plural(stratum['lines'], 'line')})."


@quality.asks("rate SAMPLE", "GET /api/quality/samples/{sample}", says=_say_rate)
def rate(sample: Annotated[str, "The id of a sample."]) -> None:
    """State the error rate of a selection, from the answers of its sample."""
