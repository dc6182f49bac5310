"""Text divided among lines: by its breaks, by readings full of errors, by the room in each line."""

from __future__ import annotations

import random

import pytest
from layout_pages import DATA, WORDS

from armarium_layout.finding.ties import tie_words


def prose(seed: int, lines: int = 20) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randrange(5, 10))) for _ in range(lines)]


def misread_text(text: str, dice: random.Random, share: float) -> str:
    """Return *text* with this share of its letters misread, left out or doubled."""
    made = []
    for letter in text:
        at = dice.random()
        made.append(
            letter
            if at > share
            else dice.choice("aeiourstn")
            if at > share / 2
            else ""
            if at > share / 4
            else letter * 2
        )
    return "".join(made)


def test_a_text_with_as_many_lines_as_the_page_is_taken_as_it_is() -> None:
    lines = prose(1)
    assert [tie_word.text for tie_word in tie_words("\n".join(lines), [10.0] * 20)] == lines
    assert {tie_word.fit for tie_word in tie_words("\n\n".join(lines), [10.0] * 20)} == {1.0}


@pytest.mark.parametrize("seed", range(4))
def test_words_go_where_something_like_them_was_read(seed: int) -> None:
    """A third of the letters is wrong, and the text has no line breaks."""
    lines, dice = prose(seed), random.Random(seed)
    read = [misread_text(line, dice, 0.33) for line in lines]
    found = tie_words(" ".join(lines), [1.0] * len(lines), read)
    right = sum(one.text == line for one, line in zip(found, lines, strict=True))
    assert right >= 0.9 * len(lines)


@pytest.mark.parametrize("seed", range(4))
def test_without_readings_words_are_divided_by_the_width_of_lines(seed: int) -> None:
    lines = prose(seed)
    found = tie_words(" ".join(lines), [float(len(line)) for line in lines])
    assert sum(one.text == line for one, line in zip(found, lines, strict=True)) >= 0.9 * len(lines)


@pytest.mark.parametrize("count", [1, 3, 7, 40])
def test_every_word_is_used_once_and_in_its_order(count: int) -> None:
    text = "\n".join(prose(9, 12))
    found = tie_words(text, [5.0] * count)
    assert " ".join(item.text for item in found if item.text).split() == text.split()
    assert len(found) == count


@pytest.mark.parametrize(
    ("text", "widths"),
    [("", [1.0, 2.0]), ("   \n ", [1.0]), ("word", []), ("word", [0.0]), ("a b", [0.0, 0.0])],
)
def test_no_words_or_no_lines_are_no_error(text: str, widths: list[float]) -> None:
    assert len(tie_words(text, widths)) == len(widths)


def test_one_endless_word_and_thousands_of_words_are_divided() -> None:
    assert tie_words("x" * 100_000, [1.0, 1.0])[0].text or True
    found = tie_words("ab " * 3000, [1.0] * 60)
    assert sum(len(item.text.split()) for item in found) == 3000


def test_the_lines_of_a_real_page_get_their_own_words_back() -> None:
    """The words of a real page in one string, with the lengths of the lines on the picture and a reader's
    errors.
    """
    from lxml import etree

    path = DATA / "page-pairs/kraken-notarial/170025120000003,0074.xml"
    if not path.exists():
        pytest.skip("the real pages are not here: set ARMARIUM_SHARED_DATA to their folder")
    name = "{http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15}"
    lines, widths = [], []
    for line in etree.parse(str(path)).getroot().iter(f"{name}TextLine"):
        text = line.findtext(f"{name}TextEquiv/{name}Unicode") or ""
        points = [float(pair.split(",")[0]) for pair in line.find(f"{name}Coords").get("points").split()]
        if text.strip():
            lines.append(" ".join(text.split()))
            widths.append(max(points) - min(points))
    dice = random.Random(5)
    read = [misread_text(line, dice, 0.25) for line in lines]
    with_reader = tie_words(" ".join(lines), widths, read)
    assert sum(one.text == line for one, line in zip(with_reader, lines, strict=True)) >= 0.95 * len(lines)
    by_room = tie_words(" ".join(lines), widths)
    letters = sum(
        len(set(one.text.split()) & set(line.split())) for one, line in zip(by_room, lines, strict=True)
    )
    # Handwriting is not as even as print: without a reading or line breaks only a third of the words is in
    # the right line.
    assert letters / sum(len(set(line.split())) for line in lines) > 0.3
