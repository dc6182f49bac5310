"""Blanks between Strings of ALTO: in a file that uses SP there are blanks only at SP; in one without any SP,
everywhere.
"""

from __future__ import annotations

from test_alto_reader import DRIVER, NOW, alto, block, read

from armarium_formats.api import PageModel


def strings(*parts: str, y: int = 20) -> str:
    """Return a TextLine of Strings one word wide; `+` stands for an SP, `_` for a gap without one."""
    left, found = 10, []
    for part in parts:
        if part in "+_":
            found.append("<SP/>" if part == "+" else "")
            left += 20
        else:
            found.append(
                f'<String ID="s{y}x{left}" CONTENT="{part}" HPOS="{left}" VPOS="{y}" WIDTH="40" HEIGHT="30"/>'
            )
            left += 40
    return f'<TextLine ID="l{y}" HPOS="10" VPOS="{y}" WIDTH="400" HEIGHT="30">{"".join(found)}</TextLine>'


def texts(page: PageModel) -> list[str]:
    return [line.text for line in page.of_kind("line")]


PARTED = [
    strings("Dear", "+", "Sir", y=20),
    strings("I", "+", "write", y=60),
    strings("to", "+", "you", y=100),
]


def test_touching_strings_are_one_word_in_a_file_that_uses_sp() -> None:
    page = read(alto(block("".join([*PARTED, strings("day", "light", y=140)]))))
    assert texts(page) == ["Dear Sir", "I write", "to you", "daylight"]
    assert not any("have no SP" in note for note in page.notes)
    written = DRIVER.write(page, NOW)
    assert written.losses == []
    assert texts(read(written.content.encode())) == texts(page)


def test_separate_strings_are_words_even_in_a_file_that_uses_sp() -> None:
    page = read(alto(block("".join([*PARTED, strings("day", "_", "light", y=140)]))))
    assert texts(page)[-1] == "day light"
    assert any("have no SP" in note for note in page.notes)
    assert texts(read(DRIVER.write(page, NOW).content.encode())) == texts(page)


def test_without_any_sp_every_string_is_a_word() -> None:
    page = read(alto(block(strings("Dear", "Sir", y=20) + strings("I", "write", y=60))))
    assert texts(page) == ["Dear Sir", "I write"]
    assert texts(read(DRIVER.write(page, NOW).content.encode())) == texts(page)
