"""Commands of reading: find the lines of pages and read them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Topic,
    answer,
    carry_out,
    id_of,
    in_words,
    name_each,
    plural,
    project_session,
    table,
)
from armarium_documents.commandline import Scope, pages_of, scope_of

commands = Commands(Topic.lines)

NAMED = 20
"""At most so many pages are checked for existing text that the new lines hide."""


@commands.example("lines 0001.jpg")
def lines(
    ids: Scope = None,
    reader: Annotated[
        str | None,
        "The reader that finds them (armarium plugins lists the installed ones); default: the one that leaves out less on a few pages of each folder.",
    ] = None,
) -> None:
    """Find the lines of pages; each page gets a new pass."""
    with project_session() as session:
        params: dict[str, Any] = {"scope_ids": scope_of(session, ids)} | (
            {"reader": reader} if reader else {}
        )
        outcome = carry_out(session, "reading.find_lines", params, "Find lines")
        readers = session.get("/api/reading/readers")["items"] if outcome.get("without_lines_count") else []
        pages = pages_of(session, ids or [])[:NAMED]
        notices = [
            (page["name"], session.get(f"/api/segments/document/{page['id']}/text")["notice"])
            for page in pages
        ]

    def words() -> None:
        _read_words("Found lines on", outcome)
        if by := outcome.get("by_finder"):
            per_finder = ", ".join(f"{plural(pages, 'page')} by {name}" for name, pages in by.items())
            typer.echo(f"  {per_finder}; armarium jobs log {outcome['job_id']} says why.")
        name_each(
            "no lines found", outcome, "without_lines", lambda page: page["name"] or page["document_id"]
        )
        if outcome.get("without_lines_count"):
            others = ", ".join(others_of(reader or next(iter(outcome.get("by_finder", ())), None), readers))
            tries = f" (--reader NAME: {others})" if others else ""
            typer.echo(f"  If such a page does have writing, try another reader{tries} or a larger scan.")
        for name, notice in notices:
            if notice:
                typer.echo(f"  {name}: {notice}", err=True)

    answer(outcome, words)


def others_of(reader: str | None, readers: list[dict[str, Any]]) -> list[str]:
    """Return the other installed readers that find lines."""
    return [
        other["name"]
        for other in readers
        if other["name"] != reader and other["installed"] and "find_lines" in other["can"]
    ]


@commands.example("read --language es")
def read(
    ids: Scope = None,
    reader: Annotated[
        str | None,
        "The reader to use; default: the one that expects to read most of a few lines right, for each folder.",
    ] = None,
    language: Annotated[str | None, "BCP 47 tag, for readers that can use it."] = None,
    model: Annotated[
        str | None, "A model file, for readers that need one; with --provider, one of its models."
    ] = None,
    provider: Annotated[str | None, "A provider whose model reads instead of a reader."] = None,
    pages_may_leave: Annotated[bool, "Allow lines to be sent to a provider on another machine."] = False,
    only: Annotated[
        str | None,
        "`unread`: only lines without text; `unchecked`: also those whose text is a machine's that nobody confirmed.",
    ] = None,
    alternatives: Annotated[int, "Also store this many alternative readings of each line."] = 0,
) -> None:
    """Read the lines of pages."""
    with project_session() as session:
        params: dict[str, Any] = {"scope_ids": scope_of(session, ids)}
        options = (
            ("reader", reader),
            ("language", language),
            ("model", model),
            ("provider", provider),
            ("lines", only),
        )
        params |= {
            name: value
            for name, value in (
                *options,
                ("pages_may_leave", pages_may_leave),
                ("alternatives", alternatives),
            )
            if value
        }
        outcome = carry_out(session, "reading.read_lines", params, "Read")
        readers = session.get("/api/reading/readers")["items"] if outcome.get("by_hand_count") else []
    hint = handwriting_hint(outcome, readers)

    def words() -> None:
        _read_words("Read", outcome)
        _sure_words(outcome)
        if hint is not None:
            typer.echo(f"\n{hint}")

    answer({**outcome, "hint": hint}, words)


_SOURCES = {
    "reader": "as its reader said",
    "words": "by the line's words",
    "aligned": "by alignment with {model}",
    "estimate": "as shares of the line",
    "none": "nowhere",
}


@commands.example("evidence 01a21f906aa1774ca15ebc1717994223")
def evidence(
    segment: Annotated[str, "Id of a line."],
    text: Annotated[str | None, "Of this text, in place of the line's own; nothing is stored."] = None,
    reading: Annotated[str | None, "--reading ID: Of this reading, in place of the one that counts."] = None,
    afresh: Annotated[bool, "Align again, whatever was stored when it was read."] = False,
) -> None:
    """Show where the words and letters of a line stand on its page, and how probable each letter is."""
    route = f"/api/segments/{id_of(segment)}/evidence"
    with project_session() as session:
        params = {"representation_id": reading and id_of(reading), "afresh": "true" if afresh else None}
        result = session.get(route, **params) if text is None else session.post(route, {"text": text})

    def words() -> None:
        typer.echo(f"Placed {_SOURCES[result['source']].format(model=result['model'])}.")
        if result["fit"] is not None:
            typer.echo(f"Text and ink agree to {result['fit']:.2f}.")
        if result["notice"]:
            typer.echo(result["notice"], err=True)
        rows = []
        for word in result["words"]:
            inside = [
                letter
                for letter in result["characters"]
                if word["char_start"] <= letter["char_start"] and letter["char_end"] <= word["char_end"]
            ]
            doubted = [
                letter
                for letter in inside
                if letter["probability"] is not None and letter["probability"] < 0.5
            ]
            doubts = ", ".join(
                f"{letter['text']} {letter['probability']:.2f}"
                + "".join(f" or {_other(other)}" for other in letter["others"][:1])
                for letter in doubted
            )
            place = " ".join(f"{value:.4f}" for value in word["rect"])
            sure = "" if word["probability"] is None else f"{word['probability']:.2f}"
            rows.append((word["text"], place, sure, doubts))
        table("", ("word", "x y width height", "probability", "in doubt"), rows)

    answer(result, words)


def _other(letter: dict[str, Any]) -> str:
    sure = letter["probability"]
    return (letter["text"].strip() or "a blank") + ("" if sure is None else f" {sure:.2f}")


def _say_transcribed(outcome: dict[str, Any]) -> None:
    typer.echo(in_words("Transcribed {pages:recording}.", outcome))
    name_each("not done", outcome, "failed", lambda failure: f"{failure['document_id']}: {failure['why']}")


@commands.asks(
    "transcribe Interviews --model small --language es",
    "act reading.transcribe_speech",
    follows="Transcribe",
    says=_say_transcribed,
)
def transcribe(
    scope_ids: Scope = None,
    transcriber: Annotated[str, "The transcriber to use."] = "whisper",
    model: Annotated[str | None, "A model on this machine, for transcribers that need one."] = None,
    language: Annotated[str | None, "BCP 47 tag; default: the model detects the language."] = None,
) -> None:
    """Transcribe the speech of recordings; each gets a new pass with a line for each sentence and its time."""


def _sure_words(outcome: dict[str, Any]) -> None:
    sure = outcome.get("confidence")
    by_reader = outcome.get("by_reader") or {}
    if by_reader:
        typer.echo(f"  {choice_words(by_reader, outcome.get('by_line') or {})}")
        typer.echo(f"  armarium jobs log {outcome['job_id']} says why for each page.")
    by = " and ".join(by_reader) or outcome["reader"]
    if not by_reader and outcome.get("model") not in (None, by):
        by += f", {outcome['model']}"
    if sure is None:
        typer.echo(f"  read by {by}, which does not say how sure it was")
        return
    typer.echo(
        f"  read by {by}; it was {sure['mean']:.0%} sure on average, and less than half sure "
        f"of {sure['below_half']:.0%} of the lines"
    )


def choice_words(by_reader: dict[str, Any], by_line: dict[str, int]) -> str:
    """Return in one sentence which reader was chosen for how many pages, what each expected of them, and which lines departed."""
    chosen = []
    for name, row in sorted(by_reader.items(), key=lambda item: -int(item[1]["pages"])):
        mine, others = row["expected"][name], [pair for pair in row["expected"].items() if pair[0] != name]
        expected = "".join(f", {other} {share:.0%}" for other, share in others)
        close = ": no clear difference" if any(share > mine for _, share in others) else ""
        chosen.append(f"{name} for {plural(int(row['pages']), 'page')} ({mine:.0%}{expected}{close})")
    lines = "".join(
        f"; {plural(count, 'line')} by {name}, which was clearly better at {'it' if count == 1 else 'them'}"
        for name, count in by_line.items()
    )
    return f"Chosen by the letters that each reader expects to read right on a few lines: {' and '.join(chosen)}{lines}."


def handwriting_hint(outcome: dict[str, Any], readers: list[dict[str, Any]]) -> str | None:
    """Return advice on pages that look handwritten but were read by a reader of print; None if there are none."""
    count = int(outcome.get("by_hand_count", 0))
    if not count:
        return None
    names = [page["name"] or page["document_id"] for page in outcome["by_hand"][:3]]
    more = f" and {count - len(names)} more" if count > len(names) else ""
    looks = "looks" if count == 1 else "look"
    reader_names = " and ".join(outcome.get("by_reader") or ()) or outcome["reader"]
    warning = f"{', '.join(names)}{more} {looks} handwritten, and {reader_names} is made for print: do not trust these readings."
    here = [reader for reader in readers if reader["installed"] or reader["runtime"]]
    usable = [reader for reader in here if "hand" in reader["writing"] and "read_lines" in reader["can"]]
    if not usable:
        return f"{warning} No reader for handwriting is installed."
    return f"{warning} For handwriting: " + "; ".join(_how_to_use(reader) for reader in usable) + "."


def _how_to_use(reader: dict[str, Any]) -> str:
    needs = f" --model FILE (of kind {reader['model_kind']})" if reader["reading_needs_model"] else ""
    use = f"armarium read --reader {reader['name']}{needs}"
    if not reader["installed"]:
        return (
            f"{reader['label']}, not installed yet (armarium runtime install {reader['runtime']}; then {use})"
        )
    return f"{reader['label']} ({use})"


def _read_words(verb: str, outcome: dict[str, Any]) -> None:
    pages, line_count = int(outcome.get("pages", 0)), int(outcome.get("lines", 0))
    typer.echo(f"{verb} {plural(pages, 'page')}, {plural(line_count, 'line')}.")
    skipped = int(outcome.get("skipped", 0))
    if skipped:
        typer.echo(f"  {plural(skipped, 'page')} passed over. The first: {outcome['why']}")
    name_each(
        "not done",
        outcome,
        "failed",
        lambda page: f"{page.get('name') or page['document_id']}: {page['why']}",
    )
