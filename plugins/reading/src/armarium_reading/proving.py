"""The test suite for a reader, used for first-party readers and third-party ones alike, in a real worker.

def test_my_reader_is_a_reader(tmp_path):
    exercise_reader(MyReader, tmp_path, page="a page with writing.png")
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from armarium_worker import Capability, Reader, WorkerProcess, WorkerRefused, WorkerStopped

CAPABILITIES = frozenset(get_args(Capability))
DIRECTION_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SILENCE = 900.0
"""Seconds within which a reader must answer on one of the suite's small pages."""

STRANGE_LINES: tuple[dict[str, Any], ...] = (
    {"rect": [0, 0, 1, 1]},
    {"rect": [0, 0, 4, 400]},
    {"rect": [10, 10, 50, 20], "polygon": [[10, 10], [60, 10], [60, 10.4]], "baseline": [[10, 10], [10, 10]]},
    {"rect": [700, 990, 100, 10], "polygon": [[700, 990], [800, 990], [800, 1000], [700, 1000]]},
    {"rect": [20, 20, 300, 30], "baseline": [[320, 45], [20, 45]], "direction": "rtl"},
)
"""Lines a person may draw and a reader must accept: a point, a thread, a flat triangle, the page's corner,
leftwards.
"""


@dataclass
class ReaderProof:
    """What the suite checked, and what it could not check and why."""

    checked: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    """What the reader read on the given page."""


def exercise_reader(
    reader: type[Reader],
    folder: Path,
    *,
    page: Path | None = None,
    python: Path | None = None,
    model: Path | None = None,
    language: str | None = None,
    least_lines: int = 1,
) -> ReaderProof:
    """Put *reader* through every check; AssertionError says in a sentence what is wrong.

    *folder* is empty. *page* is a picture with at least *least_lines* lines of writing; without it only what
    needs no writing is checked. *python* is the interpreter of its runtime, if it has one. *model* and
    *language* are used for reading; without a model, a reader that needs one is only asked to find lines.
    """
    proof = ReaderProof()
    _declarations(reader)
    proof.checked.append("declarations")
    with _worker(reader, python) as worker:
        bench = _Bench(reader, worker, folder, model, language)
        for name, check in _checks(bench, page, least_lines, proof):
            check()
            proof.checked.append(name)
    return proof


@dataclass
class _Bench:
    """A worker of the reader, and the ways the checks call it."""

    reader: type[Reader]
    worker: WorkerProcess
    folder: Path
    model: Path | None
    language: str | None
    found: list[dict[str, Any]] = field(default_factory=list)
    """The lines it found on the page with writing."""

    @property
    def reads(self) -> bool:
        """Return whether it can be asked to read here."""
        return self.model is not None or not self.reader.reading_needs_model

    def can(self, method: str) -> bool:
        """Return whether the reader declares *method* and can be asked for it here."""
        return method in self.reader.can and (method == "find_lines" or self.reads)

    def call(self, method: str, image: Path, **more: Any) -> dict[str, Any]:
        """Call the worker as the engine does."""
        params: dict[str, Any] = {
            "image": str(image),
            "model": str(self.model) if self.model else None,
            "language": self.language,
            "max_pixels": 200_000_000,
            **more,
        }
        stop: Callable[[], bool] | None = params.pop("should_stop", None)
        return self.worker.call(method, params, timeout=SILENCE, should_stop=stop)

    def expect_refusal(self, method: str, image: Path, **more: Any) -> str:
        """Return the sentence with which a call is refused; any other outcome is an error."""
        try:
            self.call(method, image, **more)
        except WorkerRefused as refusal:
            return refusal.sentence
        raise AssertionError(
            f"{self.reader.name} took {image.name}, which it should refuse with a sentence (Refused)."
        )


def _checks(
    bench: _Bench, page: Path | None, least_lines: int, proof: ReaderProof
) -> Iterator[tuple[str, Callable[[], None]]]:
    methods = [method for method in ("find_lines", "read_page") if bench.can(method)]
    if not bench.reads:
        proof.left_out["reading"] = "it needs a model, and none was given"
    for method in methods:
        yield f"{method}: a blank page", lambda method=method: _blank(bench, method)  # type: ignore[misc]
        yield f"{method}: a file that is not a picture", lambda method=method: _no_picture(bench, method)  # type: ignore[misc]
    if bench.can("read_lines"):
        yield "read_lines: no lines", lambda: _nothing_to_read(bench)
        yield "read_lines: strange lines", lambda: _strange_lines(bench)
        yield "read_lines: stops in the middle", lambda: _stops(bench)
    if bench.can("align_lines"):
        yield "align_lines: strange lines", lambda: _alignment(bench)
    if page is None:
        proof.left_out["writing"] = "no page with writing was given"
        return
    for method in methods:
        yield f"{method}: a page", lambda method=method: _page(bench, method, page, least_lines, proof)  # type: ignore[misc]
    if bench.can("read_lines") and bench.can("find_lines"):
        yield "read_lines: a page", lambda: _page_lines(bench, page, proof)


def _hold(holds: object, otherwise: str) -> None:
    """Fail with *otherwise* unless the condition holds; not an assert statement, which `python -O` removes."""
    if not holds:
        raise AssertionError(otherwise)


def _declarations(reader: type[Reader]) -> None:
    """Check the class attributes that an engine reads without creating a reader."""
    _hold(inspect.isclass(reader) and issubclass(reader, Reader), "A reader is a class derived from Reader.")
    for name in ("name", "label"):
        _hold(
            isinstance(getattr(reader, name, None), str) and getattr(reader, name),
            f"A reader needs a {name}.",
        )
    can: frozenset[str] = getattr(reader, "can", frozenset())
    _hold(
        can and can <= CAPABILITIES,
        f"{reader.name} must say in `can` which of {sorted(CAPABILITIES)} it does.",
    )
    for method in can - {"read_page"}:
        own = getattr(reader, method) is not getattr(Reader, method)
        _hold(own, f"{reader.name} declares {method} but has no such method.")
    if "read_page" in can and reader.read_page is Reader.read_page:
        _hold({"find_lines", "read_lines"} <= can, f"{reader.name} reads pages by finding and reading lines.")
    _hold(
        isinstance(reader.languages, tuple) and isinstance(reader.scripts, tuple),
        "languages and scripts must be tuples.",
    )
    if reader.model_kind is not None:
        _hold(reader.model_suffixes, f"{reader.name} uses models and must say which files (model_suffixes).")


def _blank(bench: _Bench, method: str) -> None:
    """White, black and grey pages have no lines, and that is a valid answer."""
    for colour in ("white", "black", (120, 120, 118)):
        answer = bench.call(method, _picture(bench.folder, colour))
        lines = [line for line in answer["lines"] if line["kind"] == "line"]
        _hold(not lines, f"{bench.reader.name} finds {len(lines)} lines on a page of one colour.")
        _hold(
            (answer["width"], answer["height"]) == (800, 1000),
            "the answer must say the page's size in pixels",
        )


def _no_picture(bench: _Bench, method: str) -> None:
    """A text, an empty file, half a picture and a missing one are each refused with a sentence, and the
    worker survives.
    """
    bad = {"text.jpg": b"not a picture", "empty.png": b""}
    whole = _picture(bench.folder, "white", noise=True).read_bytes()
    bad["half.png"] = whole[: len(whole) // 3]
    for name, data in bad.items():
        path = bench.folder / name
        path.write_bytes(data)
        sentence = bench.expect_refusal(method, path)
        _hold(sentence.endswith((".", ")")) and "Traceback" not in sentence, f"no sentence: {sentence!r}")
    bench.expect_refusal(method, bench.folder / "missing.png")
    _hold(
        "limit" in bench.expect_refusal(method, _picture(bench.folder, "white"), max_pixels=1000),
        "a picture over max_pixels is refused",
    )
    _hold(bench.worker.alive, f"{bench.reader.name} does not survive a bad picture.")


def _nothing_to_read(bench: _Bench) -> None:
    answer = bench.call("read_lines", _picture(bench.folder, "white"), lines=[])
    _hold(answer["readings"] == [], "no lines were given, so there are no readings")


def _strange_lines(bench: _Bench) -> None:
    """Shapes a person may draw get one reading each (empty if need be) and never an exception."""
    for colour in ("white", "black"):
        answer = bench.call("read_lines", _picture(bench.folder, colour), lines=list(STRANGE_LINES))
        _hold(len(answer["readings"]) == len(STRANGE_LINES), "one reading per line, in the order given")
        _readings(bench, answer["readings"])


def _alignment(bench: _Bench) -> None:
    """Any text on any shape gets an answer: a place for each of its letters, or a sentence."""
    texts = ["", "a", "one two", "\u202bab\u202c", "x" * 5_000]
    for shape in STRANGE_LINES:
        picture = _picture(bench.folder, "white", noise=True)
        answers = bench.call("align_lines", picture, lines=[shape] * len(texts), texts=texts)["places"]
        _hold(len(answers) == len(texts), "one answer per line, in the order given")
        for places in answers:
            _hold(places.get("why") or "letters" in places, "places of letters, or why there are none")


def _stops(bench: _Bench) -> None:
    """When stopped, it stops between two lines (or has finished) and then reads the next page normally."""
    lines = [{"rect": [20, 20 + 30 * number, 700, 28]} for number in range(30)]
    picture = _picture(bench.folder, "white", noise=True)
    with suppress(WorkerStopped):
        bench.call("read_lines", picture, lines=lines, should_stop=lambda: True)
    answer = bench.call("read_lines", picture, lines=lines[:2])
    _hold(len(answer["readings"]) == 2, "after a stop the next call must work as ever")


def _page(bench: _Bench, method: str, page: Path, least_lines: int, proof: ReaderProof) -> None:
    """Enough lines, all within the page, the same each time."""
    answer = bench.call(method, page)
    lines = [line for line in answer["lines"] if line["kind"] == "line"]
    _hold(
        len(lines) >= least_lines,
        f"{bench.reader.name} finds {len(lines)} lines; the page has {least_lines}.",
    )
    _geometry(bench, answer)
    if method == "find_lines":
        bench.found = lines
    if method == "find_lines" or bench.reader.read_page is not Reader.read_page:
        second = bench.call(method, page)
        _hold(
            second["lines"] == answer["lines"] or _are_alike(answer["lines"], second["lines"]),
            f"{bench.reader.name} finds different lines when it is asked about the same page again.",
        )
    if method == "read_page":
        _readings(bench, [line["reading"] for line in lines])
        proof.texts = [line["reading"]["text"] for line in lines]
        _hold(any(proof.texts), f"{bench.reader.name} reads nothing on a page with writing.")


def _page_lines(bench: _Bench, page: Path, proof: ReaderProof) -> None:
    """The reader can read the lines it finds, and answers in the order in which they were given."""
    lines = bench.found
    read = bench.call("read_lines", page, lines=lines)["readings"]
    _hold(len(read) == len(lines), "one reading per line, in the order given")
    _readings(bench, read)
    backwards = bench.call("read_lines", page, lines=lines[::-1])["readings"]
    equal_count = sum(
        reading["text"] == other["text"] for reading, other in zip(read, backwards[::-1], strict=True)
    )
    _hold(equal_count >= 0.9 * len(read), "readings must belong to the lines given, in any order")
    proof.texts = proof.texts or [reading["text"] for reading in read]


def _geometry(bench: _Bench, answer: Mapping[str, Any]) -> None:
    width, height = answer["width"], answer["height"]
    keys = {line["key"] for line in answer["lines"] if line.get("key")}
    for line in answer["lines"]:
        x, y, w, h = line["rect"]
        _hold(w > 0 and h > 0, f"{bench.reader.name} returns a line without extent.")
        _hold(
            x >= 0 and y >= 0 and x + w <= width + 1 and y + h <= height + 1, "a line extends beyond the page"
        )
        for px, py in [*line.get("polygon", []), *line.get("baseline", [])]:
            _hold(0 <= px <= width and 0 <= py <= height, "a point lies outside the page")
        if line.get("parent"):
            _hold(
                line["parent"] in keys,
                f"a line names the region {line['parent']}, which is not in the answer",
            )
        _hold(0 <= line.get("confidence", 0.5) <= 1, "confidence is a share from 0 to 1")


def _readings(bench: _Bench, readings: list[dict[str, Any]]) -> None:
    for reading in readings:
        text = reading["text"]
        _hold(
            "\n" not in text and "\r" not in text,
            f"{bench.reader.name} breaks one line into several: {text!r}",
        )
        marks = [mark for mark in DIRECTION_MARKS if mark in text]
        _hold(
            not marks,
            f"{bench.reader.name} puts direction marks into a text; text is stored as it was written.",
        )
        _hold(0 <= reading.get("confidence", 0.5) <= 1, "confidence is a share from 0 to 1")


def _are_alike(first: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Return whether the lines are equal apart from their keys, which a reader may generate anew each time."""
    strip = ("key", "parent")
    return [{name: value for name, value in line.items() if name not in strip} for line in first] == [
        {name: value for name, value in line.items() if name not in strip} for line in other
    ]


def _picture(folder: Path, colour: Any, *, noise: bool = False) -> Path:
    """Create a page of one colour, or with *noise* one of specks (always the same), 800 x 1000 pixels."""
    import random

    from PIL import Image

    image = Image.new("RGB", (800, 1000), colour)
    if noise:
        dice = random.Random(7)
        for _ in range(20_000):
            image.putpixel((dice.randrange(800), dice.randrange(1000)), (dice.randrange(256),) * 3)
    path = folder / f"page-{'-'.join(map(str, colour)) if isinstance(colour, tuple) else colour}-{noise}.png"
    image.save(path)
    return path


@contextmanager
def _worker(reader: type[Reader], python: Path | None) -> Iterator[WorkerProcess]:
    """Start a worker process of the reader as the engine does."""
    module = sys.modules[reader.__module__]
    top = module.__name__.partition(".")[0]
    top_file = Path(str(getattr(sys.modules.get(top), "__file__", None) or module.__file__))
    place = top_file.parent if top_file.name == "__init__.py" else top_file
    worker = WorkerProcess(
        f"{module.__name__}:{reader.__qualname__}",
        python=python or Path(sys.executable),
        packages={top: place},
        threads=2,
    )
    try:
        worker.hello()
        yield worker
    finally:
        worker.stop()
