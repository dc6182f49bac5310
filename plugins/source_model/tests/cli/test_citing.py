"""A line is cited at the command line, and the citation tells what it said then, what it says now, and what changed it."""

from __future__ import annotations

from pathlib import Path

from armarium_testing.command_line import Machine, Pictures


def test_a_citation_tells_the_text_then_the_text_now_and_the_step_between(
    desk: Machine, pictures: Pictures, tmp_path: Path
) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    for command in ("lines", "read"):
        desk.succeed(command, "--reader", "pretend")
    line = desk.succeed("text", "1.png", "--json").json["items"][0]["spans"][0]["segment_id"]
    desk.succeed("correct", line, "as it was")
    dated, undated = desk.succeed("cite", line).out.splitlines()
    desk.succeed("correct", line, "as it is")
    answer = desk.succeed("cite", dated).out
    assert "as it was\nNow: as it is\n" in answer
    assert answer.count("changed by step") == 1
    assert answer.startswith("Sources › ")
    assert desk.succeed("cite", undated.rpartition(" ")[2]).out.endswith("Now: as it is\n")
    assert "not a citation" in desk.expect_refusal("cite", "service:nothing")
