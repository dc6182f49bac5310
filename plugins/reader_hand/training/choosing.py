"""How often the automatic choice of a reader is right, on pages of sources that nothing was trained on and on others.

`python -m training.choosing` in the project's own environment (the second half of `make evaluate-base`); `--write` puts the figures
into the card. The rule is the product's
(`armarium_reading.fitting`), over the lines that were not trained on: pages as folders of one, and in the folders of their
documents. Right is a reader whose characters read wrong on a page are at most one in a hundred more than the other's; of a line,
at most one letter more. Which is right is decided by ten lines of a page (all of mixed ones), of which four are tried.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import cv2
from rapidfuzz.distance import Levenshtein

from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.model import LineModel
from armarium_reader_hand.picture import line_picture
from armarium_reader_hand.reader import HandReader
from armarium_reader_rapidocr.reader import RapidOcrReader
from armarium_reading.api import Choice
from armarium_reading.fitting import (
    CLEAR_OF_LINE,
    PAGES,
    SAMPLE,
    Trial,
    doubtful,
    expect,
    mean,
    settle,
    spread,
)
from training.convention import to_convention
from training.held_out import lines_held_out
from training.reading import grey
from training.settings import write_card

LINES, FEWEST, OF_A_SOURCE = 10, 5, 16
"""Lines of a page that are read, lines that it must have, and pages of a source."""
MARGIN, LETTERS = 0.01, 1
CHOICES = [Choice(reader, None, reader.name) for reader in (HandReader, RapidOcrReader)]

Line = dict[str, Any]
Page = dict[str, Line]


def pages() -> list[Page]:
    """The pages with their lines by their ids, each read by both readers: `read[name]`, and `wrong[name]` letters."""
    by: dict[Any, list[Line]] = defaultdict(list)
    for line in lines_held_out():
        by[line["source"], line["page"]].append(line)
    counts: Counter[Any] = Counter()
    chosen = []
    for (source, _), lines in by.items():
        kinds = tuple(sorted({line["kind"] for line in lines}))
        if len(lines) >= FEWEST and counts[source, kinds] < OF_A_SOURCE:
            counts[source, kinds] += 1
            lines.sort(key=lambda line: line["number"])
            some = spread(len(lines), LINES if len(kinds) == 1 else len(lines))
            chosen.append({str(at): lines[at] for at in some})
    everything = [line for page in chosen for line in page.values()]
    pictures = [grey(line) for line in everything]
    model = LineModel.load_shipped(2)
    hand = model.read_all(line_picture(picture, model.height) for picture in pictures)
    other_reader = RapidOcrReader(threads=2)
    other_reader.load()
    theirs = other_reader.ocr.recognize_txt(
        [cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) for picture in pictures]
    )
    for line, mine, text, sure in zip(everything, hand, theirs.txts, theirs.scores, strict=True):
        line["read"] = {
            "hand": {"text": mine.text, "confidence": mine.confidence},
            "rapidocr": {"text": str(text), "confidence": float(sure)},
        }
        line["wrong"] = {
            name: Levenshtein.distance(line["reference"], to_convention(reading["text"]))
            for name, reading in line["read"].items()
        }
    return chosen


def trial_of(page: Page) -> Trial:
    """What the product would try of it."""
    some = [list(page)[at] for at in spread(len(page), SAMPLE)]
    return Trial(
        {line: {} for line in some},
        {
            choice.reader.name: {line: page[line]["read"][choice.reader.name] for line in some}
            for choice in CHOICES
        },
    )


def choose_by_page(folder: Sequence[Page]) -> list[Choice]:
    """Who reads each page of a folder."""
    expected = [trial_of(page).expects(CHOICES) for page in folder]
    of_folder = mean([expected[at] for at in spread(len(folder), PAGES)])
    return [settle(CHOICES, expectation, of_folder) for expectation in expected]


def choose_by_line(page: Page, choice: Choice) -> dict[str, str]:
    """Who reads each line of a page that is read by *choice*."""
    (other_choice,) = (candidate for candidate in CHOICES if candidate != choice)

    def expects(who: Choice, line: str) -> float:
        return expect(who, page[line]["read"][who.reader.name])

    doubted = doubtful(
        {line: expects(choice, line) for line in page}, is_mixed=trial_of(page).is_mixed(CHOICES, choice)
    )
    better = {line for line in doubted if expects(other_choice, line) > expects(choice, line) + CLEAR_OF_LINE}
    return {line: (other_choice if line in better else choice).reader.name for line in page}


def rate(lines: Iterable[Line], who: Callable[[Line], str]) -> float:
    """Characters read wrong by whom *who* names, of all."""
    pairs = [(line["wrong"][who(line)], len(line["reference"])) for line in lines]
    return sum(wrong for wrong, _ in pairs) / sum(length for _, length in pairs)


def is_right(page: Page, name: str) -> bool:
    """Whether no other reader has clearly fewer characters wrong on a page."""
    rates = {reader: rate(page.values(), lambda _, reader=reader: reader) for reader in ("hand", "rapidocr")}
    return rates[name] <= min(rates.values()) + MARGIN


def report(title: str, right_by_kind: Mapping[str, list[bool]]) -> dict[str, list[int]]:
    """Print how many are right, by kind and of unseen sources together; return them as [right, of]."""
    print(f"\n{title}")
    unseen = [right for kind, some in right_by_kind.items() if kind.startswith("unseen") for right in some]
    groups = {"all unseen": unseen, **right_by_kind}
    counts = {
        kind: [sum(some), len(some)]
        for kind, some in sorted(groups.items(), key=lambda pair: ("unseen" not in pair[0], pair[0]))
    }
    for kind, (right, of) in counts.items():
        if of:
            print(f"  {kind:14} {right:4} of {of:4}  {right / of:6.1%}")
    return counts


def measure(every: Sequence[Page]) -> dict[str, Any]:
    """Print the figures; return those of folders: [right, of] for pages and lines, and characters wrong by kind."""
    folders: dict[Any, list[Page]] = defaultdict(list)
    for page in every:
        first = next(iter(page.values()))
        folders[first["source"], first["document"]].append(page)
    for title, groups in (
        ("each page alone", [[page] for page in every]),
        ("in folders", list(folders.values())),
    ):
        right: dict[str, list[bool]] = defaultdict(list)
        by_line: dict[str, list[bool]] = defaultdict(list)
        lines: dict[str, list[Line]] = defaultdict(list)
        for folder in groups:
            for page, choice in zip(folder, choose_by_page(folder), strict=True):
                kinds = {line["kind"] for line in page.values()}
                prefix = "unseen" if next(iter(page.values()))["unseen"] else "seen"
                kind = f"{prefix} {kinds.pop() if len(kinds) == 1 else 'mixed'}"
                right[kind].append(is_right(page, choice.reader.name))
                for line, name in choose_by_line(page, choice).items():
                    row = page[line]
                    row["page's"], row["taken"] = choice.reader.name, name
                    row["best"] = min(row["wrong"], key=row["wrong"].__getitem__)
                    lines[kind].append(row)
                    by_line[kind].append(row["wrong"][name] <= row["wrong"][row["best"]] + LETTERS)
        of_pages = report(f"Pages whose reader is right, {title}", right)
        of_lines = report("Lines whose reader is right", by_line)
        print(
            "\nCharacters wrong: by hand | by rapidocr | by page | by line | by the better one of each line"
        )
        wrong: dict[str, list[float]] = {}
        for kind, some in sorted(lines.items(), key=lambda pair: ("unseen" not in pair[0], pair[0])):
            rates = [rate(some, lambda _, name=name: name) for name in ("hand", "rapidocr")]
            rates += [rate(some, lambda line, name=name: line[name]) for name in ("page's", "taken", "best")]
            print(f"  {kind:14} " + "  ".join(f"{share:6.1%}" for share in rates))
            wrong[kind] = [round(share, 4) for share in rates]
    return {"pages": of_pages, "lines": of_lines, "wrong": wrong}


def main() -> None:
    """Print the figures, and write them into the card if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    choice = measure(pages())
    if options.write:
        write_card({**shipped_card(), "choice": choice})


if __name__ == "__main__":
    main()
