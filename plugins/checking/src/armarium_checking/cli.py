"""The commands of checking: disputed lines with their pictures, and samples by which an error rate is stated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Commands,
    Session,
    Topic,
    answer,
    carry_out,
    file_name,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import Scope, scope_of

commands = Commands(Topic.lines)
quality = commands.group("quality", "How many errors a selection has, from lines drawn at random.")

MOST_LISTED = 1_000
"""How many disputed lines are listed; the verdicts contain all of them."""

DISPUTED = ("correct", "reject")


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
        disputed = [one for one in listed if one["verdict"] in DISPUTED]
        for one in disputed:
            one["text"] = text_of(session, one)
            one["picture"] = None if out is None else picture_of(session, one, out)

    def words() -> None:
        typer.echo(f"Checked {plural(outcome['total'], 'line')}: {outcome['confirm']} confirmed, {len(disputed)} "
            f"disputed, {outcome['unanswered']} without evidence either way.")  # fmt: skip
        for one in disputed:
            typer.echo(f"  {one['text']}")
            if one["correction"] is not None:
                typer.echo(f"    suggested: {one['correction']}")
            typer.echo(f"    {one['reasons']}" + (f" ({one['picture']})" if one["picture"] else ""))

    answer({**outcome, "disputed": disputed}, words)


def text_of(session: Session, verdict: dict[str, Any]) -> str:
    """Return the reading that was checked."""
    items = session.get(f"/api/segments/{verdict['segment_id']}/readings")["items"]
    return next((one["content"] or "" for one in items if one["id"] == verdict["target_id"]), "")


def picture_of(session: Session, verdict: dict[str, Any], folder: Path) -> str | None:
    """Write the line's picture to a file in *folder*; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / file_name(f"{verdict['verdict']}-{verdict['segment_id']}.png")
    write_file(place, session.raw("GET", f"/api/segments/{verdict['segment_id']}/picture"), overwrite=True)
    return str(place)


@quality.example("draw Letters --half-width 0.01")
def draw(
    ids: Scope = None,
    half_width: Annotated[float, "Wanted half-width of the 95 % interval: 0.01 is one in a hundred."] = 0.01,
    lines: Annotated[int | None, "How many lines to draw; default: as the half-width needs."] = None,
    reader: Annotated[
        str | None, "--of: Measure this model or reader, instead of the texts that count."
    ] = None,
    query: Annotated[str | None, "Only pages that this search finds."] = None,
    seed: Annotated[int, "The same seed draws the same lines."] = 1,
    confirm: Annotated[bool, "Compare with what was read, instead of transcribing blind."] = False,
) -> None:
    """Draw lines at random, to transcribe them with `armarium quality next` and `answer`."""
    with project_session() as session:
        body = {
            "scope_ids": scope_of(session, ids),
            "half_width": half_width,
            "lines": lines,
            "reader": reader,
        }
        body |= {"query": query, "seed": seed, "way": "confirm" if confirm else "blind"}
        made = session.post("/api/quality/samples", {k: v for k, v in body.items() if v is not None})

    def words() -> Iterator[str]:
        yield (
            f"Sample {made['id']}: {plural(made['lines'], 'line')} of {made['population']:,} drawn with the seed {seed}."
        )
        if made["taught"]:
            yield f"{plural(made['taught'], 'line')} taught the reader and cannot measure it; they were left out."
        yield f"Continue with: armarium quality next {made['id']}"

    answer(made, lambda: typer.echo("\n".join(words())))


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


def _say_rate(told: dict[str, Any]) -> Iterator[str]:
    if told["statement"] is None:
        yield f"{told['answered']} of {told['lines']} lines are answered: too few for an error rate."
        return
    yield told["statement"]
    yield f"{plural(told['cer']['more_lines'], 'more line')} would halve the interval."
    if told["lines_to_width"]:
        yield f"{plural(told['lines_to_width'], 'more line')} would bring it to the wanted half-width of {told['half_width']:g}."
    for one in told["strata"]:
        if one["bad"]:
            yield f"Bad: {one['what']} {one['name']}, {100 * one['cer']:.2f} % ({plural(one['lines'], 'line')})."


@quality.asks("rate SAMPLE", "GET /api/quality/samples/{sample}", says=_say_rate)
def rate(sample: Annotated[str, "The id of a sample."]) -> None:
    """State the error rate of a selection, from the answers of its sample."""
