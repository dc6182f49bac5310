"""The command that shows documents as a table: filtered, sorted, counted by value and by date."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Topic,
    answer,
    place_for,
    plural,
    project_session,
    table,
    write_file,
)
from armarium_documents.cli.naming import DOCUMENT, document_id

commands = Commands(Topic.pages)

TYPES = ("text", "number", "rating", "date", "checkbox", "choice", "url", "reference")

_TYPED = re.compile(rf"(?P<attr>.+?)(?::(?P<type>{'|'.join(TYPES)}))?", re.DOTALL)
_CONDITION = re.compile(
    rf"(?P<attr>.+?)(?::(?P<type>{'|'.join(TYPES)}))?\s*(?P<op>!=|>=|<=|~=|=|~)\s*(?P<value>.*)", re.DOTALL
)
_OPERATORS = {"=": "eq", "!=": "ne", "~": "contains", "~=": "has", ">=": "gte", "<=": "lte"}
_CARRIED = ("name", "prototype_key", "node_kind", "doc_type", "date_original", "date_iso")
"""Fields of its own that a row carries."""

_MOST_COLUMNS = 6
_BAR = 40


@commands.example("dataset --where place=Toledo --sort document.name")
def dataset(
    folder: Annotated[
        str | None, "FOLDER: A folder by name, path or id; left out: the whole project.", DOCUMENT
    ] = None,
    where: Annotated[
        list[str] | None,
        "--where, -w CONDITION: place=Toledo, place~tol (contains), tags~=letter (a list has it), place!=Lima, pages:number>=10, date:date=1750..1760, place (has a value), !place (has none).",
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:TYPE]", help="Sort by this attribute; documents without a value come last."
        ),
    ] = None,
    descending: Annotated[bool, "--desc: Sort in descending order."] = False,
    facet: Annotated[list[str] | None, "--facet, -f NAME: Count the values of this attribute."] = None,
    bins: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:year|month|day]", help="Count the dates of this attribute, by year unless stated."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        "--column, -c NAME: Show this attribute; default: those asked about and those present.",
    ] = None,
    recursive: Annotated[bool, "--recursive, -r: Include the folder's subfolders."] = False,
    kind: Annotated[str | None, "--kind KEY: Only documents of this prototype."] = None,
    described: Annotated[bool, "Only documents that have attributes."] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Rows to show.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="Rows to skip.")] = 0,
    out: Annotated[
        Path | None, "--out, -o: Write all rows, whatever the limit, to this file: .csv or .xlsx."
    ] = None,
    overwrite: Annotated[bool, "--overwrite/--no-overwrite: Replace a file that is there."] = False,
) -> None:
    """Show documents and their attributes as a table. A document's own fields are named document.name, document.date_iso …

    TYPE is text, number, rating, date, checkbox, choice, url or reference; text when left out.
    """
    for name in column or []:
        if name.startswith("document.") and name.removeprefix("document.") not in _CARRIED:
            fields = ", ".join(f"document.{field}" for field in _CARRIED)
            raise Refused(f"{name} cannot be shown here; a document's own fields are {fields}.")
    body: dict[str, Any] = {
        "recursive": recursive or folder is None,
        "prototype_key": kind,
        "attributed_only": described,
        "filters": [condition(text) for text in where or []],
        "limit": limit,
        "offset": offset,
        "facets": facet or [],
    }
    if sort is not None:
        attr, type_name = _split_column(sort)
        body["sort"] = {"attr": attr, "type": type_name, "direction": "desc" if descending else "asc"}
    elif descending:
        raise Refused("--desc reverses a sort; give --sort NAME with it.")
    if bins is not None:
        body["bins"] = _bins(bins)
    with project_session() as session:
        body["parent_id"] = folder and document_id(session, folder)
        if out is not None:
            place_for(out, overwrite=overwrite)
            query = {"format": "xlsx" if out.suffix.lower() == ".xlsx" else "csv"}
            data = session.raw("POST", "/api/documents/dataset/table", query=query, body=body)
            write_file(out, data, overwrite=overwrite)
            answer({"path": str(out), "size_bytes": len(data)}, f"Wrote {out}.")
            return
        result = session.post("/api/documents/dataset/query", body)
    attrs = [clause["attr"] for clause in body["filters"]] + (
        [body["sort"]["attr"]] if sort is not None else []
    )
    answer(result, lambda: _show(result, column or _columns(result, attrs), body))


def condition(words: str) -> dict[str, Any]:
    """Parse a condition as typed into the filter that the engine takes; Refused if it is not one."""
    match = _CONDITION.fullmatch(words.strip())
    if match is None:
        absent = words.strip().startswith("!")
        attr, type_name = _split_column(words.strip().removeprefix("!"))
        return {"attr": attr, "op": "not_set" if absent else "is_set", "type": type_name}
    kind, op, value = match["type"] or "text", _OPERATORS[match["op"]], match["value"]
    clause: dict[str, Any] = {"attr": match["attr"].strip(), "op": op, "type": kind}
    low, between, high = value.partition("..")
    if between and low and high and op == "eq" and kind in ("number", "rating", "date"):
        return {**clause, "op": "between", "value": _value(low, kind), "value2": _value(high, kind)}
    return {**clause, "value": _value(value, kind) if op != "contains" else value}


def _value(words: str, kind: str) -> Any:
    words = words.strip()
    if kind in ("number", "rating"):
        try:
            return int(words) if re.fullmatch(r"[+-]?\d{1,18}", words) else float(words)
        except ValueError:
            raise Refused(f"{words!r} is not a number, and a {kind} is compared with one.") from None
    if kind == "checkbox":
        if words.casefold() not in ("true", "false", "yes", "no"):
            raise Refused(
                f"{words!r} is neither true nor false, and a checkbox is compared with one of them."
            )
        return words.casefold() in ("true", "yes")
    return words


def _split_column(words: str) -> tuple[str, str]:
    """Split `NAME[:TYPE]` into the attribute and the type."""
    match = _TYPED.fullmatch(words.strip())
    if match is None:
        raise Refused("An empty name names no attribute; write NAME or NAME:TYPE.")
    return match["attr"], match["type"] or "text"


def _bins(words: str) -> dict[str, str]:
    attr, colon, granularity = words.rpartition(":")
    if colon and granularity in ("year", "month", "day"):
        return {"attr": attr, "granularity": granularity}
    return {"attr": words, "granularity": "year"}


def _columns(result: dict[str, Any], attrs: list[str]) -> list[str]:
    """Return the columns asked about, then those that the rows have, the most common first."""
    counts: dict[str, int] = {}
    for row in result["rows"]:
        for name, value in row["attributes"].items():
            if value not in (None, "", [], {}):
                counts[name] = counts.get(name, 0) + 1
    common = sorted(counts, key=lambda name: -counts[name])
    return list(dict.fromkeys([*(name for name in attrs if name != "document.name"), *common]))[
        :_MOST_COLUMNS
    ]


def _show(result: dict[str, Any], columns: list[str], body: dict[str, Any]) -> None:
    rows = [(row["id"], row["name"], *(_cell(row, name) for name in columns)) for row in result["rows"]]
    if rows:
        headings = [name.removeprefix("document.") for name in columns]
        table("", ("id", "name", *headings), rows)
    last = result["offset"] + len(rows)
    part = f"; these are {result['offset'] + 1} to {last}" if rows and len(rows) < result["total"] else ""
    typer.echo(f"{plural(result['total'], 'document')}{part}.")
    for key, defaults in result["defaults_by_prototype"].items():
        if "_unresolved" in defaults:
            typer.echo(f"{key}: {defaults['_unresolved']}")
    for attr, values in result["facets"].items():
        table(
            attr,
            ("value", "documents", ""),
            _bars([(_words(entry["value"]), entry["count"]) for entry in values]),
        )
    if "bins" in body:
        counts = [(entry["bin"], entry["count"]) for entry in result["bins"]]
        table(
            f"{body['bins']['attr']} by {body['bins']['granularity']}",
            ("when", "documents", ""),
            _bars(counts),
        )


def _cell(row: dict[str, Any], name: str) -> str:
    own = name.removeprefix("document.")
    value = row.get(own) if name.startswith("document.") else row["attributes"].get(name)
    words = " ".join(_words(value).split())
    return words if len(words) <= 40 else f"{words[:39]}…"


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "" if value is None else str(value)


def _bars(counted: list[tuple[str, int]]) -> list[tuple[str, int, str]]:
    most = max((count for _, count in counted), default=1)
    return [(words, count, "█" * max(1, round(_BAR * count / most))) for words, count in counted]
