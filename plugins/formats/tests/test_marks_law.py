"""The law of marks: whatever was edited, in each format that is written a mark of the imported file is on its words, or
they are named in the losses. Checked against token lists in plain Python, which know nothing of how marks are moved.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from lxml import etree

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.queries.exchange import export_page
from armarium_testing.samples import sample

WORDS = [
    "der",
    "Hof",
    "zu",
    "Tarma",
    "liegt",
    "am",
    "Bach",
    "Elsa",
    "Lund",
    "Pia",
    "Gast",
    "hat",
    "ihn",
    "im",
    "Mai",
    "an",
    "Juan",
    "gegeben",
    "on",
]
KINDS = {"person": "persName", "place": "placeName", "date": "date", "organization": "orgName"}
FORMATS = ("pagexml", "tei", "alto", "hocr", "plain-text")
Token = tuple[int, str]
"""A word with a number of its own, which it keeps as long as nobody touches it."""


@dataclass
class Mark:
    kind: str
    tokens: list[Token]
    was_alone: bool

    @property
    def words(self) -> str:
        return " ".join(word for _, word in self.tokens)


@dataclass
class Model:
    """What is on the page, by segments in order: rows of tokens; merged segments have several."""

    segments: dict[str, list[list[Token]]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)

    def text(self, segment: str) -> str:
        return "\n".join(" ".join(word for _, word in row) for row in self.segments[segment])

    def is_certain(self, mark: Mark) -> bool:
        """Return whether a mark can only be where it is: its words were never touched and occur once, then and now."""
        rows = [row for rows in self.segments.values() for row in rows]
        intact = any(row[at : at + len(mark.tokens)] == mark.tokens for row in rows for at in range(len(row)))
        times = sum(occurrences(self.text(segment), mark.words) for segment in self.segments)
        # Two marks of the same words: when those of one are gone, nothing tells which the remaining ones were of.
        alone = sum(one.words == mark.words for one in self.marks) == 1
        return intact and mark.was_alone and alone and times == 1


def occurrences(text: str, words: str) -> int:
    return len(re.findall(rf"(?<!\w)(?={re.escape(words)}(?!\w))", text))


class History:
    """One page and its edits, drawn from a seed."""

    def __init__(self, engine: Engine, library: Library, seed: int) -> None:
        self.engine, self.library, self.dice = engine, library, Random(seed)
        self.made = 0
        self.page = self.act("document.create", name=f"page {seed}", doc_type="page")["id"]
        self.model = Model()
        self.steps: list[tuple[str, Model]] = []
        self.begin()

    def act(self, action: str, **params: Any) -> dict[str, Any]:
        outcome = self.engine.run(self.library, action, params, LOCAL_OWNER)
        self.audit_id = str(outcome.audit_id)
        return outcome.result or {}

    def token(self) -> Token:
        self.made += 1
        return self.made, self.dice.choice(WORDS)

    # ------------------------------------------------------------------------------------- the file

    def begin(self) -> None:
        lines = [
            [self.token() for _ in range(self.dice.randint(2, 7))] for _ in range(self.dice.randint(1, 4))
        ]
        marks: list[list[tuple[str, int, int]]] = []
        for line in lines:
            found, at = [], 0
            while at < len(line):
                length = self.dice.choice([0, 0, 1, 1, 2])
                if length and at + length <= len(line):
                    found.append((self.dice.choice(list(KINDS)), at, at + length))
                at += max(length, 1)
            marks.append(found)
            text = " ".join(word for _, word in line)
            for kind, start, end in found:
                words = " ".join(word for _, word in line[start:end])
                self.model.marks.append(Mark(kind, line[start:end], occurrences(text, words) == 1))
        write = self.dice.choice([page_file, tei_file, alto_file])
        self.act("format.import", document_id=self.page, file=write(lines, marks), filename="a.xml")
        asked = "SELECT id FROM segment WHERE document_id = ? AND kind = 'line' ORDER BY id"
        with self.library.db.read() as conn:
            ids = [row[0] for row in conn.exec_driver_sql(asked, (self.page,))]
        self.model.segments = dict(zip(ids, ([line] for line in lines), strict=True))

    # ----------------------------------------------------------------------------------------- edits

    def edit(self) -> None:
        before = copy.deepcopy(self.model)
        what = self.dice.choice([self.correct] * 5 + [self.merge, self.split, self.undo])
        if what is self.undo:
            self.undo()
        elif what():
            self.steps.append((self.audit_id, before))

    def correct(self) -> bool:
        segment = self.dice.choice(list(self.model.segments))
        rows = self.model.segments[segment]
        row = self.dice.choice(rows)
        at = self.dice.randrange(len(row) + 1)
        match self.dice.choice(["add", "add", "drop", "swap", "letter", "replace"]):
            case "add":
                row.insert(at, self.token())
            case "drop" if len(row) > 1 and at < len(row):
                del row[at]
            case "swap" if 0 < at < len(row):
                # Other words in the same places: what was said of one is not said of the other.
                row[at - 1], row[at] = row[at], row[at - 1]
            case "letter" if at < len(row):
                row[at] = (self.token()[0], row[at][1] + "x")
            case "replace" if at < len(row):
                row[at] = self.token()
            case _:
                return False
        self.act("representation.create", segment_id=segment, text=self.model.text(segment))
        return True

    def merge(self) -> bool:
        ids = list(self.model.segments)
        if len(ids) < 2:
            return False
        at = self.dice.randrange(len(ids) - 1)
        pair = ids[at : at + 2]
        keep = self.dice.choice(pair)
        self.act("segment.merge", segment_ids=pair, keep_id=keep)
        rows = self.model.segments[pair[0]] + self.model.segments[pair[1]]
        asked = "SELECT content FROM content_representation WHERE segment_id = ? ORDER BY created_at DESC, id DESC LIMIT 1"
        with self.library.db.read() as conn:
            joined = conn.exec_driver_sql(asked, (keep,)).scalar_one()
        if joined != "\n".join(" ".join(word for _, word in row) for row in rows):
            rows = self.model.segments[pair[1]] + self.model.segments[pair[0]]
        self.model.segments = {
            (keep if one == pair[0] else one): (rows if one == pair[0] else segment)
            for one, segment in self.model.segments.items()
            if one != pair[1]
        }
        assert self.model.text(keep) == joined
        return True

    def split(self) -> bool:
        segment = self.dice.choice(list(self.model.segments))
        rows = self.model.segments[segment]
        places = [
            (row, at) for row, tokens in enumerate(rows) for at in range(len(tokens)) if (row, at) != (0, 0)
        ]
        if not places:
            return False
        row, at = self.dice.choice(places)
        halves = [rows[:row] + ([rows[row][:at]] if at else []), [rows[row][at:], *rows[row + 1 :]]]
        with self.library.db.read() as conn:
            asked = "SELECT version, bbox_x, bbox_y, bbox_w, bbox_h FROM segment WHERE id = ?"
            version, x, y, w, h = conn.exec_driver_sql(asked, (segment,)).one()
        parts = [
            {
                "anchor": {"rect": [x, y + h / 2 * number, w, h / 2]},
                "text": "\n".join(" ".join(one for _, one in part) for part in half),
            }
            for number, half in enumerate(halves)
        ]
        result = self.act("segment.split", segment_id=segment, expected_version=version, parts=parts)
        found: dict[str, list[list[Token]]] = {}
        for one, kept in self.model.segments.items():
            found |= dict(zip(result["segment_ids"], halves, strict=True)) if one == segment else {one: kept}
        self.model.segments = found
        return True

    def undo(self) -> None:
        if self.steps:
            audit_id, self.model = self.steps.pop()
            self.engine.undo(self.library, [audit_id], LOCAL_OWNER)

    # --------------------------------------------------------------------------------------- the law

    def check(self, **more: Any) -> None:
        for name in FORMATS:
            export = export_page(self.engine, self.library, self.page, name, **more)
            self.check_file(name, export["content"], export["losses"], certain=not more)
        return None

    def check_file(self, name: str, content: str, losses: list[dict[str, Any]], *, certain: bool) -> None:
        there = READERS[name](content)
        text = " ".join(" ".join(self.model.text(segment) for segment in self.model.segments).split())
        for _, words in there:
            assert occurrences(text, words), f"{name}: a mark is on {words!r}, which the page does not say"
        lost = "\n".join(f", {loss['what'].partition(': ')[2]}, " for loss in losses)
        for mark in self.model.marks:
            said = (mark.kind, mark.words)
            if said in there:
                there.remove(said)
                continue
            assert f", {mark.words}, " in lost, f"{name}: {said} is neither in the file nor in {losses}"
            can_say = name in ("pagexml", "tei")
            assert not (certain and can_say and self.model.is_certain(mark)), (
                f"{name}: {said} was given up without need"
            )
        assert not there, f"{name}: marks that the file did not have: {there}"


def page_file(lines: list[list[Token]], marks: list[list[tuple[str, int, int]]]) -> str:
    out = []
    for number, (line, found) in enumerate(zip(lines, marks, strict=True)):
        starts = [
            len(" ".join([word for _, word in line[:at]] + [""])) if at else 0 for at in range(len(line))
        ]
        tags = "".join(
            f" {kind} {{offset:{starts[start]}; length:{len(' '.join(word for _, word in line[start:end]))};}}"
            for kind, start, end in found
        )
        y = 100 * number
        out.append(
            f'<TextLine id="l{number}" custom="readingOrder {{index:{number};}}{tags}"><Coords points="60,{y} 900,{y} 900,{y + 80} '
            f'60,{y + 80}"/><TextEquiv><Unicode>{" ".join(word for _, word in line)}</Unicode></TextEquiv></TextLine>'
        )
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"><Page imageFilename="a.jpg" '
        'imageWidth="1000" imageHeight="1400"><TextRegion id="r"><Coords points="50,0 950,0 950,1350 50,1350"/>'
        f"{''.join(out)}</TextRegion></Page></PcGts>"
    )


def tei_file(lines: list[list[Token]], marks: list[list[tuple[str, int, int]]]) -> str:
    zones = "".join(
        f'<zone points="60,{100 * n} 900,{100 * n} 900,{100 * n + 80} 60,{100 * n + 80}" xml:id="l{n}"/>'
        for n in range(len(lines))
    )
    body = ""
    for number, (line, found) in enumerate(zip(lines, marks, strict=True)):
        words = [word for _, word in line]
        for kind, start, end in found:
            words[start] = f"<{KINDS[kind]}>{words[start]}"
            words[end - 1] += f"</{KINDS[kind]}>"
        body += f'<lb facs="#l{number}"/>{" ".join(words)}'
    return (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><facsimile><surface xml:id="f" ulx="0" uly="0" lrx="1000" '
        f'lry="1400">{zones}</surface></facsimile><text><body><pb facs="#f"/><p>{body}</p></body></text></TEI>'
    )


def alto_file(lines: list[list[Token]], marks: list[list[tuple[str, int, int]]]) -> str:
    tags, out = "", ""
    for number, (line, found) in enumerate(zip(lines, marks, strict=True)):
        refs: dict[int, str] = {}
        for mark, (kind, start, end) in enumerate(found):
            tags += f'<NamedEntityTag ID="N{number}_{mark}" TYPE="{kind}" LABEL="x"/>'
            refs |= dict.fromkeys(range(start, end), f' TAGREFS="N{number}_{mark}"')
        strings = "<SP/>".join(
            f'<String HPOS="{60 + 100 * at}" VPOS="{100 * number}" WIDTH="90" HEIGHT="80" CONTENT="{word}"{refs.get(at, "")}/>'
            for at, (_, word) in enumerate(line)
        )
        out += f'<TextLine ID="l{number}" HPOS="60" VPOS="{100 * number}" WIDTH="840" HEIGHT="80">{strings}</TextLine>'
    return (
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit></Description>'
        f'<Tags>{tags}</Tags><Layout><Page ID="p" WIDTH="1000" HEIGHT="1400" PHYSICAL_IMG_NR="1"><PrintSpace HPOS="0" VPOS="0" '
        f'WIDTH="1000" HEIGHT="1400"><TextBlock ID="b" HPOS="50" VPOS="0" WIDTH="900" HEIGHT="600">{out}</TextBlock></PrintSpace>'
        "</Page></Layout></alto>"
    )


def marks_of_page(content: str) -> list[tuple[str, str]]:
    found = []
    for line in etree.fromstring(content.encode()).iter("{*}TextLine"):
        text = line.findtext("{*}TextEquiv/{*}Unicode") or ""
        for kind, start, length in re.findall(
            r"(\w+) \{offset:(\d+); ?length:(\d+);", line.get("custom") or ""
        ):
            found.append((kind, text[int(start) : int(start) + int(length)]))
    return found


def marks_of_tei(content: str) -> list[tuple[str, str]]:
    kinds = {name: kind for kind, name in KINDS.items()}
    return [
        (kinds[name], " ".join("".join(element.itertext()).split()))
        for element in etree.fromstring(content.encode()).iter()
        if isinstance(element.tag, str) and (name := etree.QName(element).localname) in kinds
    ]


def marks_of_alto(content: str) -> list[tuple[str, str]]:
    root = etree.fromstring(content.encode())
    kinds = {element.get("ID"): str(element.get("TYPE")) for element in root.iter("{*}NamedEntityTag")}
    found: list[tuple[str, str]] = []
    for line in root.iter("{*}TextLine"):
        last: dict[str, int] = {}
        for string in line.iter("{*}String"):
            now: dict[str, int] = {}
            for ref in (string.get("TAGREFS") or "").split():
                if ref not in kinds:
                    continue
                content = str(string.get("CONTENT"))
                if ref in last:
                    found[last[ref]] = (found[last[ref]][0], f"{found[last[ref]][1]} {content}")
                    now[ref] = last[ref]
                else:
                    found.append((kinds[ref], content))
                    now[ref] = len(found) - 1
            last = now
    return found


READERS = {
    "pagexml": marks_of_page,
    "tei": marks_of_tei,
    "alto": marks_of_alto,
    # Neither has a place for any of them: all are losses.
    "hocr": lambda _: [],
    "plain-text": lambda _: [],
}


def live(engine: Engine, library: Library, seed: int, edits: int = 6) -> None:
    history = History(engine, library, seed)
    history.check()
    for _ in range(edits):
        history.edit()
    history.check()
    if seed % 3 == 0:
        # Typed again: exported as text, and imported as the pass that somebody corrected elsewhere.
        text = export_page(engine, library, history.page, "plain-text")["content"]
        second_import = history.act("format.import", document_id=history.page, file=text, filename="a.txt")
        if any("took over the shapes" in note for note in second_import["notes"]):
            history.check(pass_id=second_import["pass_id"])


@pytest.mark.parametrize("seeds", sample([range(8), range(8, 25)], 1))
def test_a_mark_is_on_its_words_or_named_in_the_losses(
    engine: Engine, library: Library, seeds: range
) -> None:
    for seed in seeds:
        live(engine, library, seed)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_histories_of_marks(engine: Engine, library: Library) -> None:
    for seed in range(10_000):
        live(engine, library, seed, edits=seed % 12)
