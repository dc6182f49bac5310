"""`armarium bakeoff`: measure readers, or line finders, on the pages a person corrected, and choose one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    find_begun,
    follow_job,
    legible,
    percent,
    place_for,
    plural,
    project_session,
    table,
    write_file,
)
from armarium_documents.commandline import Scope, document_id
from armarium_recipes.card_prefixes import LINE_READER

commands = Commands(Topic.work)

POLICY = "diplomatic"
"""The policy whose error rate is shown; --json contains all of them."""


@commands.example("bakeoff --use 1")
def bakeoff(
    ids: Scope = None,
    lines: Annotated[bool, "Compare line finders instead of readers."] = False,
    promote: Annotated[bool, "Give a hand the reader that reads it significantly better."] = False,
    show: Annotated[str | None, "Show an earlier one, by its id or `last`."] = None,
    listed: Annotated[bool, "--list: List all bake-offs, newest first."] = False,
    use: Annotated[
        str | None, "--use CARD: Use this candidate, named by its place in the table or its card."
    ] = None,
    folder: Annotated[str | None, "With --use: only for pages below this folder."] = None,
    watts: Annotated[
        float | None,
        "Watts of one busy core: with --grid, the carbon of readers on this machine is estimated.",
    ] = None,
    grid: Annotated[float | None, "Grams of carbon dioxide per kilowatt-hour."] = None,
    chart: Annotated[
        Path | None, "Draw the table into this file: as a picture (.png), or as a web page (.html)."
    ] = None,
    overwrite: Annotated[bool, "Replace an existing file."] = False,
) -> None:
    """Measure the readers that the rules would choose, and some others, on pages you corrected."""
    # Checked before anything is measured: a bake-off may take an hour.
    kind = None if chart is None else _kind_of(place_for(chart, overwrite=overwrite))
    if (watts is None) != (grid is None):
        raise Refused("Carbon is estimated from both: --watts 12 --grid 350.")
    power = None if watts is None else {"watts": watts, "grid_g_per_kwh": grid}
    with project_session() as session:
        if listed:
            if chart is not None:
                raise Refused("A chart shows one bake-off: armarium bakeoff --show last --chart FILE.")
            listing = session.get("/api/recipes/project/bakeoffs")
            answer(listing, lambda: show_all(listing["items"]))
            return
        if show is not None or (use is not None and not ids):
            result = _get_earlier(session, show or "last")
        else:
            result = _run(session, ids, lines=lines, promote=promote, power=power)
        used = None if use is None else _use(session, result, use, folder)
        if chart is not None:
            picture = session.raw(
                "GET", f"/api/recipes/project/bakeoffs/{result['id']}/picture", query={"kind": kind}
            )
            write_file(chart, picture, overwrite=overwrite)

    def words() -> None:
        show_table(result)
        if used is not None:
            typer.echo(
                f"The project now uses {used['card']}."
                if folder is None
                else f"{folder} now uses {used['card']}."
            )
        if chart is not None:
            typer.echo(f"Drew it into {chart}.")

    more: dict[str, Any] = {} if used is None else {"used": used}
    answer({**result, **more, **({} if chart is None else {"chart": str(chart)})}, words)


def _kind_of(chart: Path) -> str:
    kind = chart.suffix.lower().removeprefix(".")
    if kind not in ("png", "html"):
        raise Refused(f"The name of {chart} must end in .png or .html, to say what to draw.")
    return kind


def _run(
    session: Session, ids: list[str] | None, *, lines: bool, promote: bool, power: dict[str, Any] | None
) -> dict[str, Any]:
    body: dict[str, Any] = {"step": "find-lines" if lines else "read-a-line", "promote": promote}
    if power is not None:
        body["power"] = power
    if ids:
        body["page_ids"] = [document_id(session, page) for page in ids]
    begun = session.post("/api/recipes/project/bakeoffs", body)
    follow_job(session, begun["job_id"], "Bake-off")
    result: dict[str, Any] = session.get(f"/api/recipes/project/bakeoffs/{begun['id']}")
    return result


def _get_earlier(session: Session, name: str) -> dict[str, Any]:
    items = session.get("/api/recipes/project/bakeoffs")["items"]
    if not items:
        raise Refused("There was no bake-off yet: armarium bakeoff.")
    begun = str(items[0]["id"]) if name == "last" else name
    bakeoff_id = find_begun(items, "id", begun, "bake-off", "armarium bakeoff --list")
    result: dict[str, Any] = session.get(f"/api/recipes/project/bakeoffs/{bakeoff_id}")
    return result


def _use(session: Session, result: dict[str, Any], name: str, folder: str | None) -> dict[str, Any]:
    rows = result["candidates"]
    card = rows[int(name) - 1]["card"] if name.isdecimal() and 1 <= int(name) <= len(rows) else name
    body: dict[str, Any] = {"card": card, "scope": "project"}
    if folder is not None:
        body |= {"scope": "folder", "folder_id": document_id(session, folder)}
    answer = session.post(f"/api/recipes/project/bakeoffs/{result['id']}/use", body)
    return {"card": card, "overrides": answer["overrides"], "audit_id": answer["audit_id"]}


def show_all(items: list[dict[str, Any]]) -> None:
    """Show a table of bake-offs."""
    if not items:
        typer.echo("There was no bake-off yet: armarium bakeoff.")
        return
    rows = []
    for item in items:
        best = next((row["name"] for row in item["candidates"] if row["not_scored"] is None), "")
        rows.append([*(item[key] for key in ("id", "state", "started_at", "step", "lines")), best])
    table("Bake-offs", ["bake-off", "state", "started", "compared", "lines", "best"], rows)


def show_table(one: dict[str, Any]) -> None:
    """Show the ranked candidates, those that could not be scored with the reason, and how certain the winner is."""
    scored = [row for row in one["candidates"] if row["not_scored"] is None]
    if one["state"] != "done":
        reason = f": {legible(one['reason'])}" if one["reason"] else ""
        typer.echo(f"The bake-off is {one['state']}{reason}.")
    if one["step"] == "find-lines":
        columns = ["", "finder", "lines found", "too many"]
        cells = [
            [row["name"], f"{row['lines_found']} of {row['lines_checked']}", row["extra_lines"]]
            for row in scored
        ]
    else:
        columns = ["", "reader", "CER", "WER", "pages an hour", "cost", ""]
        cells = [
            [
                row["name"],
                percent((row["cer"] or {}).get(POLICY)),
                percent(row["wer"]),
                "" if row["pages_per_hour"] is None else f"{row['pages_per_hour']:.0f}",
                "?" if row["cost_usd"]["value"] is None else f"${row['cost_usd']['value']:.2f}",
                "tied with the best" if row["tied"] and number else "",
            ]
            for number, row in enumerate(scored)
        ]
    title = f"Measured on {plural(one['lines'], 'line')} of {plural(len(one['pages']), 'page')}"
    if scored:
        table(title, columns, [[number, *row] for number, row in enumerate(cells, 1)])
    for row in one["candidates"]:
        if row["not_scored"] is not None:
            typer.echo(f"  not measured: {row['name']}: {legible(row['not_scored'])}")
    for row in scored:
        if row.get("carbon_g_per_page") is not None:
            typer.echo(
                f"  carbon: {row['name']}: {row['carbon_g_per_page']:.3g} g a page. {legible(row['carbon_from'] or '')}"
            )
    if one["comparison"] is not None:
        pair = one["comparison"]
        names = {row["card"]: row["name"] for row in one["candidates"]}
        low, high = pair["interval"]
        typer.echo(
            f"Of 100 characters {names.get(pair['better'], pair['better'])} gets "
            f"{100 * pair['difference']:.1f} fewer wrong than "
            f"{names.get(pair['worse'], pair['worse'])} (between {100 * low:.1f} and "
            f"{100 * high:.1f}; by chance alone: p = {pair['p']:.3f})."
        )
    for hand in one["hands"]:
        if hand["better"] is not None:
            state = "reads it now" if hand["promoted"] else "would read it significantly better"
            typer.echo(f"  hand {legible(hand['label'] or hand['hand_id'])}: {hand['better']} {state}.")
    usable = [number for number, row in enumerate(scored, 1) if _is_usable(one["step"], row["card"])]
    if usable:
        typer.echo(f"Use one: armarium bakeoff --use {usable[0]}")
    elif scored:
        typer.echo("To use another line finder: armarium candidates find-lines --use 1")


def _is_usable(step: str, card: str) -> bool:
    """Return whether a candidate of the bake-off can be used: of line finders, only the line reader's own."""
    return step != "find-lines" or card.startswith(LINE_READER)
