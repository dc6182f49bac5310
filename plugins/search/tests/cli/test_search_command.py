"""Searching at the command line: pages with their lines, filters, and the pictures of what was found."""

from __future__ import annotations

from armarium_testing.command_line import Machine, Pictures


def test_lines_are_shown_with_the_words_and_cut_out(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    desk.succeed("workflow", "run", "Find and read lines", "--provider", "pretend")
    page = desk.succeed("text", "1.png").out
    word = max(page.split(), key=len).strip(".,")
    answer = desk.succeed("search", word, "--json").json
    assert answer["total_results"] >= 1
    output = desk.succeed(
        "search", word, "--fuzzy", "--alike", "--picture", "found", "--where", "has_reading=true"
    ).out
    assert word in output
    assert "found/" in output
    assert "similarity was not searched" in output
    assert (
        "0 documents found"
        in desk.succeed("search", "nowhereatall", "--people", "Juan", "--dates", "1832").out
    )
    assert desk.succeed("search", word, "--in", "1.png", "--json").json["total_results"] == 1
    assert "--where takes NAME=VALUE" in desk.expect_refusal("search", word, "--where", "colour=red")
