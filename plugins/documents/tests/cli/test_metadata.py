"""`armarium metadata`: a table written, planned, taken in and taken back from the command line."""

from __future__ import annotations

from pathlib import Path

from armarium_testing.command_line import Machine, Pictures


def test_a_table_goes_out_and_comes_back_changed(desk: Machine, pictures: Pictures, tmp_path: Path) -> None:
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Wills")
    desk.succeed("import", "pages")
    out = tmp_path / "wills.csv"
    desk.succeed("metadata", "export", "pages", "--out", str(out))
    head, *rows = out.read_text("utf-8-sig").splitlines()
    out.write_text("\n".join([f"{head},place", *(f"{row},Toledo" for row in rows)]))
    assert "2 new" in desk.succeed("metadata", "import", str(out), "--dry-run").out
    answer = desk.succeed("metadata", "import", str(out), "--json").json
    assert answer["counts"]["new"] == 2
    assert "place" in desk.succeed("dataset", "--where", "place=Toledo").out
    desk.succeed("dataset", "--where", "place=Toledo", "--out", str(tmp_path / "found.xlsx"))
    desk.succeed("undo", answer["audit_id"])
    assert "2 new" in desk.succeed("metadata", "import", str(out), "--dry-run").out
    assert "not of the form" in desk.expect_refusal("metadata", "import", str(out), "--column", "place")
