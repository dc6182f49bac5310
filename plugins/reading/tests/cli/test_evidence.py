"""Where the letters of a line stand, at the command line; the hand reader itself is tried in reader_hand."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont

from armarium_testing.command_line import Machine, Pictures


def test_words_of_a_line_are_shown_with_where_they_stand(desk: Machine, pictures: Pictures) -> None:
    page = Image.new("L", (1200, 400), 245)
    draw = ImageDraw.Draw(page)
    for number, line in enumerate(["Dear Sir, your letter", "of the third has come"]):
        draw.text((80, 60 + 120 * number), line, font=ImageFont.load_default(size=56), fill=20)
    page.save(pictures(["1.png"]) / "1.png")
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    desk.succeed("lines", "--reader", "rapidocr")
    desk.succeed("read", "--reader", "rapidocr")
    line = desk.succeed("text", "--json").json["items"][0]["spans"][0]["segment_id"]
    answer = desk.succeed("evidence", line, "--json").json
    assert [word["text"] for word in answer["words"]] == answer["text"].split()
    output = desk.succeed("evidence", line).out
    assert output.startswith("Placed ")
    assert answer["words"][0]["text"] in output
    other_answer = desk.succeed("evidence", line, "--text", "another text", "--json").json
    assert [word["text"] for word in other_answer["words"]] == ["another", "text"]
    assert desk.succeed("draw", "1.png", "--words", "--json").json["bytes"] > 0
