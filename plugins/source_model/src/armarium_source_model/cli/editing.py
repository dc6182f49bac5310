"""Lets the caller edit a page's lines in an editor, one per line, and saves the changes in one step."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

from armarium_cli.api import Refused, answer, plural, project_session, wants_json
from armarium_documents.commandline import document_id

EDITORS = ("sensible-editor", "nano", "vi")
"""Asked for in turn where neither VISUAL nor EDITOR names one."""

BREAK = "⏎"
"""Stands for a line break within a reading, which would be a line of its own in the editor."""

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NUMBERED = re.compile(r"\s*(\d+) *\|(?: (.*))?")


def correct_page(page: str, kind: str | None) -> None:
    """Open the lines of *page* in an editor and save the changed ones; what cannot be saved stays in its
    file.
    """
    if kind not in (None, "transcription"):
        raise Refused("--kind applies to a single line; a page's lines are corrected as transcriptions.")
    with project_session() as session:
        identity = document_id(session, page)
        try:
            name = session.get(f"/api/documents/{identity}")["name"]
        except Refused as refused:
            if refused.status != 404:
                raise
            why = f"{page} is not a page; for a line, give its text after its id: armarium correct ID 'En la villa'."
            raise Refused(why, status=404) from refused
        text = session.get(f"/api/segments/document/{identity}/text", include_furniture=True)
        texts = [text["text"][span["char_start"] : span["char_end"]] for span in text["spans"]]
        lines = [
            (span, _BREAKS.sub(BREAK, line_text))
            for span, line_text in zip(text["spans"], texts, strict=True)
        ]
        if not lines:
            raise Refused(f"{name} has no line that was read; armarium read {shlex.quote(page)} reads it.")
        place = _written_out(name, [line_text for _, line_text in lines])
        try:
            edited = _edit_lines(place, len(lines))
            changed = [
                (number, span, words.replace(BREAK, "\n") if line_text != texts[number - 1] else words)
                for number, ((span, line_text), words) in enumerate(zip(lines, edited, strict=True), start=1)
                # Some editors remove spaces at the end of a line.
                if words.rstrip() != line_text.rstrip()
            ]
            empty = [number for number, _, words in changed if not words.strip()]
            if empty:
                raise Refused(
                    f"Line {empty[0]} is empty, but a reading needs text. "
                    "armarium readings ID --retract ID takes one out of the count."
                )
            result = (
                _save_corrections(session, changed)
                if changed
                else {"items": [], "count": 0, "audit_id": None}
            )
        except (KeyboardInterrupt, typer.Abort) as stopped:
            raise Refused(f"Stopped. Nothing was saved; what you wrote is in {place}.") from stopped
        except Refused as refused:
            detail = f"{refused} What you wrote is in {place}."
            raise Refused(
                {**refused.body, "detail": detail, "file": str(place)}, status=refused.status
            ) from refused
        place.unlink()
    words = f"Corrected {plural(result['count'], 'line')} of {name}. Take it back with: armarium undo {result['audit_id']}"
    unplaced = [span for item in result["items"] for span in item["unplaced"]]

    def print_outcome() -> None:
        typer.echo(words if changed else f"Nothing was changed in {name}.")
        for span in unplaced:
            typer.echo(f"  not moved along: {span['id']}: {span['why']}")

    answer({"document_id": identity, **result}, print_outcome)


def _written_out(name: str, texts: list[str]) -> Path:
    """Write the numbered lines to a file readable only by the caller."""
    width = len(str(len(texts)))
    head = [
        f"# {' '.join(name.split())}: one line of the page each. Change what follows the bars; save and close.",
        f"# Keep the numbers. {BREAK} stands for a line break within a line.",
    ]
    rows = [f"{number:>{width}} | {words}" for number, words in enumerate(texts, start=1)]
    handle, path = tempfile.mkstemp(prefix="armarium-correct-", suffix=".txt")
    with os.fdopen(handle, "wb") as file:
        file.write(("\n".join([*head, *rows]) + "\n").encode("utf-8", "surrogatepass"))
    return Path(path)


def _edit_lines(place: Path, number: int) -> list[str]:
    """Return the lines after the editor was closed; on a missing or extra line, the caller may edit again."""
    while True:
        _run_editor(place)
        try:
            return _lines_of(place, number)
        except Refused as refused:
            if wants_json() or not (sys.stdin.isatty() and sys.stdout.isatty()):
                raise
            typer.echo(str(refused))
            if not typer.confirm("Open it again?", default=True):
                raise


def _run_editor(place: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    command = editor or next((editor for editor in EDITORS if shutil.which(editor)), None)
    if command is None:
        raise Refused("There is no editor to open; name one in the environment variable EDITOR.")
    try:
        ended = subprocess.run([*shlex.split(command), str(place)], check=False).returncode
    except (OSError, ValueError) as error:
        raise Refused(f"The editor {command!r} does not start: {error}. EDITOR names another.") from error
    if ended:
        raise Refused(f"The editor {command!r} ended with {ended}.")


def _lines_of(place: Path, number: int) -> list[str]:
    """Return the texts after the numbers 1 to *number*; Refused for a missing, repeated, moved or extra
    line.
    """
    try:
        content = place.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"What the editor wrote cannot be read: {error}.") from error
    words: list[str] = []
    for row in content.removeprefix("\ufeff").split("\n"):
        line = row.removesuffix("\r")
        match = _NUMBERED.fullmatch(line)
        if match is None:
            if not line.strip() or line.startswith("#"):
                continue
            raise Refused(
                f"After line {len(words)} there is a line without its number: {line[:60]!r}. Each line of the page "
                "must keep its number; lines cannot be split or added here."
            )
        if int(match[1]) != len(words) + 1:
            raise Refused(f"Line {len(words) + 1} is expected where line {match[1]} is.")
        words.append(match[2] or "")
    if len(words) != number:
        raise Refused(
            f"The page has {plural(number, 'line')}, and {plural(len(words), 'line')} came back; lines cannot be "
            "added or removed here."
        )
    return words


def _save_corrections(session: Any, changed: list[tuple[int, dict[str, Any], str]]) -> dict[str, Any]:
    """Save the corrections, all or none; a conflict is reported with the number of its line."""
    corrections = [
        {
            "segment_id": span["segment_id"],
            "text": words,
            "expected_counting_id": span["representation_id"],
        }
        for _, span, words in changed
    ]
    try:
        result: dict[str, Any] = session.post("/api/segments/correct-many", {"corrections": corrections})
    except Refused as refused:
        index = refused.body.get("index")
        if not isinstance(index, int):
            raise
        why = str(refused).removeprefix(f"corrections[{index}]: ")
        if refused.body.get("code") == "other_reading_counts":
            counting_text = refused.body.get("counting_text")
            why = (
                f"somebody corrected it in the meantime; it now says: {counting_text}"
                if counting_text
                else "somebody changed it in the meantime."
            )
        raise Refused(
            {**refused.body, "detail": f"Line {changed[index][0]}: {why}"}, status=refused.status
        ) from refused
    return result
