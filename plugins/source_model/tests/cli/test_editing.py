"""`armarium edit`: a page corrected in an editor is saved in one step, and nothing that was typed is lost."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine


@pytest.fixture
def editor(read_pages: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    """`editor("...")`: the editor runs this Python code on `text`, the content of the file, and writes it back."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("VISUAL", raising=False)

    def install(code: str, ends: int = 0) -> None:
        script = tmp_path / "editor.py"
        script.write_text(
            "import sys, pathlib\nplace = pathlib.Path(sys.argv[1])\ntext = place.read_text('utf-8')\n"
            f"{code}\nplace.write_text(text, 'utf-8')\nsys.exit({ends})\n"
        )
        monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")

    return install


def read_kept_file(said: str) -> str:
    """Return the content of the file that a refusal names."""
    found = re.search(r"What you wrote is in (\S+)\.$", said)
    assert found is not None, said
    return Path(found[1]).read_text("utf-8")


def test_each_changed_line_is_a_correction_and_all_are_one_step(
    read_pages: Machine, editor, tmp_path
) -> None:  # type: ignore[no-untyped-def]
    editor("text = text.replace('1 | linea 1', '1 | En la villa').replace('2 | linea 2', '2 |   de Toledo')")
    answer = read_pages.succeed("correct", "Sources/pages/1.png").out
    assert answer.startswith("Corrected 2 lines of 1.png. Take it back with: armarium undo ")
    assert read_pages.succeed("text", "1.png").out == "En la villa\n  de Toledo\n"
    assert read_pages.succeed("text", "2.png").out == "linea 1\nlinea 2\n"
    row = read_pages.succeed("history", "--limit", "1", "--json").json["items"][0]
    assert row["words"] == "Corrected lines of 1.png"
    assert "En la villa" not in str(row)
    assert read_pages.succeed("undo").out == "Undid 1 step: Corrected lines of 1.png.\n"
    assert read_pages.succeed("text", "1.png").out == "linea 1\nlinea 2\n"
    assert not list(tmp_path.glob("armarium-correct-*")), "what was saved needs no file"


def test_only_what_was_changed_is_written(read_pages: Machine, editor) -> None:  # type: ignore[no-untyped-def]
    before = read_pages.succeed("history", "--json").json["total"]
    # Some editors strip blanks at the ends of lines and write the line ends of another system.
    editor("text = '\\r\\n'.join(line.rstrip() for line in text.split('\\n'))")
    assert read_pages.succeed("correct", "1.png").out == "Nothing was changed in 1.png.\n"
    assert read_pages.succeed("history", "--json").json["total"] == before
    editor("text = text.replace('linea 2', 'linea dos')")
    assert read_pages.succeed("correct", "1.png").out.startswith("Corrected 1 line of 1.png.")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("text = text.replace('1 | linea 1\\n', '')", "Line 1 is expected where line 2 is."),
        ("text = text.replace('2 | linea 2\\n', '')", "The page has 2 lines, and 1 line came back"),
        (
            "text = text.replace('linea 1', 'linea\\nuno')",
            "After line 1 there is a line without its number: 'uno'.",
        ),
        ("text += '3 | one more\\n'", "The page has 2 lines, and 3 lines came back"),
        ("text = text.replace('2 | linea 2', '2 | ')", "Line 2 is empty"),
    ],
)
def test_an_added_or_removed_line_is_refused_and_the_text_kept(
    read_pages: Machine,
    editor,
    code: str,
    why: str,  # type: ignore[no-untyped-def]
) -> None:
    editor(f"{code}\ntext += '# written with care\\n'")
    refusal = read_pages.expect_refusal("correct", "1.png")
    assert why in refusal
    assert "written with care" in read_kept_file(refusal)
    assert read_pages.succeed("text", "1.png").out == "linea 1\nlinea 2\n"


def test_a_conflict_is_reported_with_the_number_of_its_line(read_pages: Machine, editor) -> None:  # type: ignore[no-untyped-def]
    line = read_pages.succeed("text", "1.png", "--json").json["items"][0]["spans"][1]["segment_id"]
    editor("text = text.replace('linea', 'mine')")
    from armarium_source_model.cli import editing

    run = editing._run_editor

    def slow(place: Path) -> None:
        run(place)
        # Somebody else saves a correction while the editor is open.
        read_pages.succeed("correct", line, "theirs")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(editing, "_run_editor", slow)
        refusal = read_pages.expect_refusal("correct", "1.png")
    assert refusal.startswith("Line 2: somebody corrected it in the meantime; it now says: theirs")
    assert "1 | mine 1" in read_kept_file(refusal)
    assert read_pages.succeed("text", "1.png").out == "linea 1\ntheirs\n"


def test_without_an_editor_or_lines_it_says_what_to_do(read_pages: Machine, editor, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    editor("", ends=3)
    assert "ended with 3" in read_pages.expect_refusal("correct", "1.png")
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert "does not start" in read_pages.expect_refusal("correct", "1.png")
    monkeypatch.delenv("EDITOR")
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "name one in the environment variable EDITOR" in read_pages.expect_refusal("correct", "1.png")
    assert "has no line that was read" in read_pages.expect_refusal("correct", "Sources")
