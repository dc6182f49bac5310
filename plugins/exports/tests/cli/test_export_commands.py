"""The commands of exports, on a machine of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from armarium_exports.cli import _draw_losses
from armarium_testing.command_line import Machine, ids


def test_records_samples_and_a_site_are_written(wills: Machine) -> None:
    answer = wills.succeed("export-records", "records.jsonl").out
    assert answer.startswith("Wrote ")
    assert "document: " in answer
    lines = Path("records.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["record_type"] == "manifest"
    assert "overwrite" in wills.expect_refusal("export-records", "records.jsonl")
    found_answer = wills.succeed(
        "export-records", "bundle", "--of", ids(wills)["Sources"], "--line-pictures", "--json"
    ).json
    assert Path(found_answer["manifest_path"]).is_file()
    assert "name a folder" in wills.expect_refusal("export-records", "x.jsonl", "--line-pictures")
    assert "0 corrected" in wills.succeed("export-samples", "samples.jsonl", "--use-case", "x", "--gold").out
    output = wills.succeed("export-site", "site", "--title", "Wills", "--of", ids(wills)["Sources"]).out
    assert "npm run build" in output
    assert Path("site/package.json").is_file()


def test_one_file_of_a_folder_is_written_and_says_what_was_not_read(wills: Machine) -> None:
    answer = wills.succeed("export-one", "wills.docx", "--of", ids(wills)["Sources"], "--facsimile")
    assert answer.out.startswith("Wrote ")
    assert Path("wills.docx").read_bytes()[:2] == b"PK"
    assert "overwrite" in wills.expect_refusal("export-one", "wills.docx")
    assert "which says what to write" in wills.expect_refusal("export-one", "wills.odt")
    assert "is not found" in wills.expect_refusal("export-one", "found.md", "--search", "zyxwvu")


def test_an_export_is_kept_written_and_ended(wills: Machine) -> None:
    Path("kept").mkdir()
    assert "There is no kept export" in wills.succeed("kept-exports").out
    begun = wills.succeed("keep-export", "markdown", "kept", "--json").json
    assert "markdown per page" in wills.succeed("kept-exports", "--write").out
    assert wills.succeed("kept-exports", "--end", begun["id"], "--json").json["count"] == 0
    for option, per in (("--per-document", "document"), ("--per-folder", "folder")):
        begun = wills.succeed("keep-export", "markdown", "kept", option, "--json").json
        assert f"markdown per {per}" in wills.succeed("kept-exports").out
        wills.succeed("kept-exports", "--end", begun["id"])


def test_files_for_other_programs_are_reported_and_written(wills: Machine) -> None:
    assert "Would write 0 pages for kraken" in wills.succeed("export-for", "kraken", "--report").out
    assert wills.expect_refusal("export-for", "kraken", "--out", "kraken").endswith(".")


def test_losses_are_drawn_the_widest_spread_first() -> None:
    def page(*losses: tuple[str, int]) -> dict[str, Any]:
        return {
            "losses": [{"what": what, "count": count, "why": "it has no place"} for what, count in losses]
        }

    losses = _draw_losses([page(("notes", 7)), page(("notes", 1), ("baselines", 30))], 4)
    assert losses == [
        "  lost:",
        "  notes     ██████████░░░░░░░░░░ 2 of 4 pages, 8 in all: it has no place.",
        "  baselines █████░░░░░░░░░░░░░░░ 1 of 4 pages, 30 in all: it has no place.",
    ]
    assert _draw_losses([], 4) == ["  nothing would be lost."]
    assert _draw_losses([], 0) == []
