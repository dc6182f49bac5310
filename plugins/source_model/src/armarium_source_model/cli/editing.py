"""A page's lines in the caller's own editor: written out one a line, and what was changed there saved in one step."""

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

from armarium.commandline import Refused, answer, plural, project_session, wants_json
from armarium_documents.commandline import document_id

EDITORS = ("sensible-editor", "nano", "vi")
"""Asked for in turn where neither VISUAL nor EDITOR names one."""

BREAK = "⏎"
"""Stands for a line break within a reading, which would be a line of its own in the editor."""

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NUMBERED = re.compile(r"\s*(\d+) *\|(?: (.*))?")


def correct_page(page: str, kind: str | None) -> None:
    """Open the lines of *page* in an editor and save those that were changed; what cannot be saved stays in its file."""
    if kind not in (None, "transcription"):
        raise Refused("A page's lines are corrected as what they say; --kind is of one line.")
    with project_session() as session:
        identity = document_id(session, page)
        try:
            name = session.get(f"/api/documents/{identity}")["name"]
        except Refused as refused:
            if refused.status != 404:
                raise
            why = f"{page} is no page; of a line, say after its id what it says: armarium correct ID 'En la villa'."
            raise Refused(why, status=404) from refused
        text = session.get(f"/api/segments/document/{identity}/text", include_furniture=True)
        said = [text["text"][span["char_start"] : span["char_end"]] for span in text["spans"]]
        lines = [(span, _BREAKS.sub(BREAK, one)) for span, one in zip(text["spans"], said, strict=True)]
        if not lines:
            raise Refused(f"{name} has no line that was read; armarium read {shlex.quote(page)} reads it.")
        place = _written_out(name, [shown for _, shown in lines])
        try:
            edited = _edit_lines(place, len(lines))
            changed = [
                (number, span, words.replace(BREAK, "\n") if shown != said[number - 1] else words)
                for number, ((span, shown), words) in enumerate(zip(lines, edited, strict=True), start=1)
                # Some editors take the blanks at the end of a line away by themselves.
                if words.rstrip() != shown.rstrip()
            ]
            empty = [number for number, _, words in changed if not words.strip()]
            if empty:
                raise Refused(
                    f"Line {empty[0]} is empty, and a reading says something. "
                    "armarium readings ID --retract ID takes one out of the count."
                )
            done = (
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
    words = f"Corrected {plural(done['count'], 'line')} of {name}. Take it back with: armarium undo {done['audit_id']}"
    unplaced = [one for item in done["items"] for one in item["unplaced"]]

    def print_outcome() -> None:
        typer.echo(words if changed else f"Nothing was changed in {name}.")
        for one in unplaced:
            typer.echo(f"  not moved along: {one['id']}: {one['why']}")

    answer({"document_id": identity, **done}, print_outcome)


def _written_out(name: str, shown: list[str]) -> Path:
    """A file of the caller's own with the numbered lines."""
    width = len(str(len(shown)))
    head = [
        f"# {' '.join(name.split())}: one line of the page each. Change what stands behind the bars; save and close.",
        f"# Keep the numbers. {BREAK} stands for a line break within a line.",
    ]
    rows = [f"{number:>{width}} | {words}" for number, words in enumerate(shown, start=1)]
    handle, path = tempfile.mkstemp(prefix="armarium-correct-", suffix=".txt")
    with os.fdopen(handle, "wb") as file:
        file.write(("\n".join([*head, *rows]) + "\n").encode("utf-8", "surrogatepass"))
    return Path(path)


def _edit_lines(place: Path, number: int) -> list[str]:
    """The lines after the editor was closed; where one is missing or too many, the caller may go on editing."""
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
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    command = named or next((one for one in EDITORS if shutil.which(one)), None)
    if command is None:
        raise Refused("There is no editor to open; name one in the environment variable EDITOR.")
    try:
        ended = subprocess.run([*shlex.split(command), str(place)], check=False).returncode
    except (OSError, ValueError) as error:
        raise Refused(f"The editor {command!r} does not start: {error}. EDITOR names another.") from error
    if ended:
        raise Refused(f"The editor {command!r} ended with {ended}.")


def _lines_of(place: Path, number: int) -> list[str]:
    """What stands behind the numbers 1 to *number*; Refused where one is missing, doubled, moved or not a number."""
    try:
        content = place.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"What the editor wrote cannot be read: {error}.") from error
    words: list[str] = []
    for row in content.removeprefix("\ufeff").split("\n"):
        line = row.removesuffix("\r")
        found = _NUMBERED.fullmatch(line)
        if found is None:
            if not line.strip() or line.startswith("#"):
                continue
            raise Refused(
                f"After line {len(words)} stands a line without its number: {line[:60]!r}. Each line of the page "
                "keeps its number; a line is not parted or added here."
            )
        if int(found[1]) != len(words) + 1:
            raise Refused(f"Line {len(words) + 1} is expected where line {found[1]} stands.")
        words.append(found[2] or "")
    if len(words) != number:
        raise Refused(
            f"The page has {plural(number, 'line')}, and {plural(len(words), 'line')} came back; none is added or "
            "taken away here."
        )
    return words


def _save_corrections(session: Any, changed: list[tuple[int, dict[str, Any], str]]) -> dict[str, Any]:
    """Write the corrections, all or none; a clash is told with the number of its line."""
    corrections = [
        {
            "segment_id": span["segment_id"],
            "text": words,
            "expected_counting_id": span["representation_id"],
        }
        for _, span, words in changed
    ]
    try:
        done: dict[str, Any] = session.post("/api/segments/correct-many", {"corrections": corrections})
    except Refused as refused:
        index = refused.body.get("index")
        if not isinstance(index, int):
            raise
        why = str(refused).removeprefix(f"corrections[{index}]: ")
        if refused.body.get("code") == "other_reading_counts":
            now = refused.body.get("counting_text")
            why = (
                f"somebody corrected it meanwhile; it says now: {now}"
                if now
                else "somebody changed it meanwhile."
            )
        raise Refused(
            {**refused.body, "detail": f"Line {changed[index][0]}: {why}"}, status=refused.status
        ) from refused
    return done
