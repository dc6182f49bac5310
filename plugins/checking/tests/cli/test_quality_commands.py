"""An error rate is stated at the command line: lines drawn, looked at, transcribed, and the rate of the whole."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from armarium_testing.command_line import Machine, Pictures


def test_an_error_rate_is_stated_from_lines_that_a_person_transcribes(
    desk: Machine, pictures: Pictures
) -> None:
    pictures([f"{number}.png" for number in range(7)])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    for command in ("lines", "read"):
        desk.succeed(command, "--reader", "pretend")
    assert "draws one" in desk.succeed("quality", "list").out
    drawn_answer = desk.succeed("quality", "draw", "--lines", "12", "--seed", "7", "--json").json
    sample = drawn_answer["id"]
    assert desk.succeed("quality", "list", "--json").json["items"][0]["seed"] == 7
    assert "too few" in desk.succeed("quality", "rate", sample).out
    answer = desk.succeed("quality", "next", sample).out
    assert f"armarium quality next {sample} --picture" in answer
    answered = 0
    while (
        line := desk.succeed("quality", "next", sample, "--json", "-p", "line.png").json["line"]
    ) is not None:
        with Image.open(Path("line.png")) as picture:
            assert min(picture.size) > 1
        output = desk.succeed("quality", "answer", line["line_id"], "what stands there")
        answered += 1
        assert output.out.startswith("Answered"), output.out
    assert answered == drawn_answer["lines"]
    assert "Every line is answered" in desk.succeed("quality", "next", sample).out
    told = desk.succeed("quality", "rate", sample)
    assert "95 %" in told.out
    assert "no line" in desk.expect_refusal("quality", "answer", "0" * 32, "x").lower()
