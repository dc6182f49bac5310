"""The reader contract: what a driver that finds or reads lines is, and how its methods are served to the engine.

A reader class is looked at by the engine (its class attributes) and run in a worker process (its methods). Its
module is therefore importable where nothing of Armarium but this distribution is installed, and imports heavy
libraries inside methods only. All geometry is in pixels of the page picture, origin top left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from .errors import Refused
from .server import Call, Handler, WorkerContext

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
Direction = Literal["ltr", "rtl", "ttb"]
Capability = Literal["find_lines", "read_lines", "read_page"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """An isolated environment a driver's dependencies need; drivers of the same runtime name the same one.

    `requirements` is a file of pinned versions (no addresses) inside `package`; `probe` is a module that can be
    imported there when the installation is whole; `size_mb` is what it roughly takes on disk.
    """

    name: str
    package: str
    requirements: str
    probe: str
    summary: str = ""
    size_mb: int = 0


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model on this machine: `model` is what to give as `model`, None as path when it ships inside a package."""

    model: str
    label: str
    path: Path | None = None
    size_bytes: int | None = None
    shipped: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A model file that can be downloaded: where, under which name it is kept, and how to know it arrived whole."""

    url: str
    name: str
    checksum: str | None = None
    algorithm: Literal["sha256", "md5"] = "sha256"
    title: str = ""
    licence: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line (or a region, or a word) on a page. Without `rect` it is the box around polygon and baseline.

    `key` and `parent` tie lines to their regions inside one answer; they are the driver's own words.
    `baseline` runs in reading direction of the picture's x axis, left to right, for horizontal writing.
    """

    polygon: Sequence[Point] = ()
    baseline: Sequence[Point] = ()
    rect: Rect | None = None
    kind: Literal["region", "line", "word"] = "line"
    confidence: float | None = None
    direction: Direction | None = None
    kind_raw: str | None = None
    key: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class LineReading:
    """What a line says, in logical order and exactly as read; confidence 0 to 1."""

    text: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line found and read in one go."""

    line: FoundLine
    reading: LineReading


@dataclass(frozen=True, slots=True)
class LineShape:
    """A line to be read: at least its rect is known."""

    rect: Rect
    polygon: Sequence[Point] = ()
    baseline: Sequence[Point] = ()
    direction: Direction | None = None


@dataclass(slots=True)
class Page:
    """A page picture held decoded while its lines are found and read; `image` is whatever the driver decodes to."""

    path: Path
    width: int
    height: int
    image: Any


class Reader:
    """The base of every reader driver: set the class attributes, write the methods named in `can`.

    `find_lines(page)` returns FoundLine values in no particular order. `read_lines(page, lines)` yields one
    LineReading for each given line, in the given order, as soon as each is ready (the engine may stop between
    two). `read_page(page)` yields ReadLine values; the one here finds lines, then reads them. `load()` imports
    what is heavy and loads weights, once. Raise `Refused` with a sentence for what a person can put right.
    A reader keeps no state between pages.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    can: ClassVar[frozenset[Capability]]
    languages: ClassVar[tuple[str, ...]] = ()
    """BCP 47 tags it reads without a model of one's own; empty: any, or as its model says."""
    scripts: ClassVar[tuple[str, ...]] = ()
    runtime: ClassVar[Runtime | None] = None
    model_kind: ClassVar[str | None] = None
    """The folder of models it takes, as in `/api/local-models/{runtime}`; None: it takes no model files."""
    model_suffixes: ClassVar[tuple[str, ...]] = ()
    reading_needs_model: ClassVar[bool] = False
    """True when `read_lines` cannot work without a model file."""

    def __init__(
        self, *, model: str | None = None, language: str | None = None, threads: int = 1, device: str = "cpu"
    ) -> None:
        self.model = model
        self.language = language
        self.threads = threads
        self.device = device

    def load(self) -> None:
        """Import libraries and load weights; called once, before the first page."""

    def find_lines(self, page: Page) -> Iterable[FoundLine]:
        """The lines (and regions) of a page; an empty page has none."""
        raise NotImplementedError

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterable[LineReading]:
        """One reading for each given line, in the given order."""
        raise NotImplementedError

    def read_page(self, page: Page) -> Iterable[ReadLine]:
        """The lines of a page, each with its reading; regions come with an empty reading."""
        found = [placed for line in self.find_lines(page) if (placed := place(line, page)) is not None]
        lines = [line for line in found if line.kind == "line"]
        yield from (ReadLine(line, LineReading("")) for line in found if line.kind != "line")
        shapes = [
            LineShape(line.rect, line.polygon, line.baseline, line.direction) for line in lines if line.rect
        ]
        yield from map(ReadLine, lines, self.read_lines(page, shapes))

    def open_page(self, path: Path, max_pixels: int) -> Page:
        """Decode a page picture, upright; this one uses Pillow and gives an RGB image."""
        from PIL import Image, ImageOps

        Image.MAX_IMAGE_PIXELS = None
        try:
            with Image.open(path) as image:
                check_size(image.size, max_pixels)
                upright = ImageOps.exif_transpose(image).convert("RGB")
        except Refused:
            raise
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            raise Refused(
                f"The page picture cannot be decoded ({error}). Import it again from a good copy."
            ) from error
        return Page(path, upright.width, upright.height, upright)

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """The models this machine has for this reader: files in `folder`, and what its packages ship."""
        if not folder.is_dir():
            return []
        files = sorted(
            path for path in folder.rglob("*") if path.is_file() and path.suffix in cls.model_suffixes
        )
        return [
            ModelFile(path.relative_to(folder).as_posix(), path.stem, path, path.stat().st_size)
            for path in files
        ]

    @classmethod
    def model_for(cls, *, reading: bool, language: str | None, folder: Path) -> Path | None:
        """The model file to take when a caller names none; None when none is needed. Asked before a job starts.

        `folder` holds the engine's models of `model_kind`. Raises Refused when one is needed and must be named.
        """
        if not (reading and cls.reading_needs_model):
            return None
        here = [model.model for model in cls.models_here(folder, None)]
        raise Refused(
            f"{cls.label} needs a model to read with; name one. "
            + (
                f"Here are: {', '.join(here)}."
                if here
                else "None is on this machine yet: train or download one."
            )
        )

    @classmethod
    def remote(cls, model: str, fetch: Callable[[str], bytes]) -> RemoteFile:
        """Where the model published under the id *model* is downloaded; `fetch(url)` asks the engine's gate.

        Called by the engine. Raises Refused when this reader's models cannot be downloaded, or there is none.
        """
        raise Refused(f"Models of {cls.label} cannot be downloaded; put the file among the engine's models.")

    @classmethod
    def why_not(cls, language: str | None) -> str | None:
        """A sentence when this reader cannot work here or cannot read this language; None when it can."""
        if (
            language
            and cls.languages
            and language.split("-")[0] not in {tag.split("-")[0] for tag in cls.languages}
        ):
            return (
                f"{cls.label} does not read the language {language!r}; it reads {', '.join(cls.languages)}."
            )
        return None

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """The methods a worker process of this reader answers."""
        service = ReaderService(cls, context)
        return {
            "load": service.load,
            "find_lines": service.find_lines,
            "read_lines": service.read_lines,
            "read_page": service.read_page,
        }


class ReaderService:
    """Serves one reader class: keeps the loaded model and the last page decoded, checks and packs its answers."""

    def __init__(self, reader: type[Reader], context: WorkerContext) -> None:
        self.cls = reader
        self.context = context
        self.loaded: tuple[tuple[Any, Any], Reader] | None = None
        self.page: Page | None = None

    def load(self, call: Call) -> dict[str, Any]:
        """Load the model now, so that the first page does not wait for it."""
        started = time.perf_counter()
        self._reader(call)
        return {"seconds": time.perf_counter() - started}

    def find_lines(self, call: Call) -> dict[str, Any]:
        """Params: image, width?, height?, model?, language?, max_pixels?. Result: lines[], width, height, seconds."""
        reader, page = self._reader(call), self._page(call)
        started = time.perf_counter()
        lines = []
        for line in reader.find_lines(page):
            placed = place(line, page)
            if placed is not None:
                lines.append(pack_line(placed))
            call.check()
        return self._answer(page, started, lines=lines)

    def read_lines(self, call: Call) -> dict[str, Any]:
        """Params: as find_lines, and lines[] {rect, polygon?, baseline?, direction?}. Result: readings[]."""
        reader, page = self._reader(call), self._page(call)
        started = time.perf_counter()
        shapes = [unpack_shape(line) for line in call.params.get("lines", [])]
        readings: list[dict[str, Any]] = []
        for reading in reader.read_lines(page, shapes):
            readings.append(pack_reading(reading))
            call.progress(len(readings), len(shapes))
            call.check()
        if len(readings) != len(shapes):
            raise ValueError(f"{self.cls.name} was given {len(shapes)} lines and read {len(readings)}")
        return self._answer(page, started, readings=readings)

    def read_page(self, call: Call) -> dict[str, Any]:
        """Params: as find_lines. Result: lines[], each with text and its confidence under `reading`."""
        reader, page = self._reader(call), self._page(call)
        started = time.perf_counter()
        lines: list[dict[str, Any]] = []
        for read in reader.read_page(page):
            placed = place(read.line, page)
            if placed is not None:
                lines.append({**pack_line(placed), "reading": pack_reading(read.reading)})
                call.progress(len(lines))
            call.check()
        return self._answer(page, started, lines=lines)

    def _reader(self, call: Call) -> Reader:
        """The reader with the model the call asks for; another model replaces the loaded one."""
        wanted = (call.params.get("model"), call.params.get("language"))
        if self.loaded is None or self.loaded[0] != wanted:
            self.loaded = None
            model = wanted[0]
            if model is not None and Path(model).is_absolute() and not Path(model).is_file():
                raise Refused(f"The model file {Path(model).name} is no longer there.")
            reader = self.cls(
                model=model, language=wanted[1], threads=self.context.threads, device=self.context.device
            )
            reader.load()
            self.loaded = (wanted, reader)
        return self.loaded[1]

    def _page(self, call: Call) -> Page:
        """The page the call names; the one decoded last is kept, since its lines are usually read next."""
        path = Path(str(call.params["image"]))
        if self.page is None or self.page.path != path:
            self.page = None
            if not path.is_file():
                raise Refused("The page picture is not there any more; is the project's folder complete?")
            assert self.loaded is not None
            self.page = self.loaded[1].open_page(path, int(call.params.get("max_pixels", 200_000_000)))
        page, width, height = self.page, call.params.get("width"), call.params.get("height")
        if width and height and (page.width, page.height) != (width, height):
            raise Refused(
                f"The page picture is {page.width} x {page.height} pixels and {width} x {height} were recorded; "
                "import it again."
            )
        return page

    def _answer(self, page: Page, started: float, **fields: Any) -> dict[str, Any]:
        seconds = time.perf_counter() - started
        return {**fields, "width": page.width, "height": page.height, "seconds": seconds}


def check_size(size: tuple[int, int], max_pixels: int) -> None:
    """Refuse a picture over the limit before it is decoded."""
    if size[0] * size[1] > max_pixels:
        raise Refused(f"The page picture has {size[0]} x {size[1]} pixels, over the limit of {max_pixels}.")


def place(line: FoundLine, page: Page) -> FoundLine | None:
    """The line with its shapes inside the page and its rect known; None when nothing of it is on the page."""
    polygon, baseline = _inside(line.polygon, page), _inside(line.baseline, page)
    if line.rect is not None:
        x, y, w, h = line.rect
        corners: Sequence[Point] = _inside(((x, y), (x + w, y + h)), page)
    else:
        corners = polygon or baseline
    if not corners:
        return None
    left, top = min(p[0] for p in corners), min(p[1] for p in corners)
    right, bottom = max(p[0] for p in corners), max(p[1] for p in corners)
    if right - left < 1 or bottom - top < 1:
        return None
    return FoundLine(
        polygon if len(polygon) >= 3 else (),
        baseline if len(baseline) >= 2 else (),
        (left, top, right - left, bottom - top),
        line.kind,
        line.confidence,
        line.direction,
        line.kind_raw,
        line.key,
        line.parent,
    )


def _inside(points: Sequence[Point], page: Page) -> tuple[Point, ...]:
    """The points as plain numbers, drawn to the page's edge where they lie outside; not a number is a fault."""
    placed: list[Point] = []
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            raise ValueError("a point of a line is not a number")
        point = (min(max(float(x), 0.0), float(page.width)), min(max(float(y), 0.0), float(page.height)))
        if not placed or placed[-1] != point:
            placed.append(point)
    return tuple(placed)


def pack_line(line: FoundLine) -> dict[str, Any]:
    """A found line as it travels: plain lists, absent values left out."""
    body: dict[str, Any] = {"rect": [round(value, 2) for value in line.rect or ()], "kind": line.kind}
    if line.polygon:
        body["polygon"] = [[round(x, 2), round(y, 2)] for x, y in line.polygon]
    if line.baseline:
        body["baseline"] = [[round(x, 2), round(y, 2)] for x, y in line.baseline]
    if line.confidence is not None:
        body["confidence"] = _share(line.confidence)
    for key in ("direction", "kind_raw", "key", "parent"):
        if (value := getattr(line, key)) is not None:
            body[key] = value
    return body


def unpack_line(body: Mapping[str, Any]) -> FoundLine:
    """A found line as it arrived."""
    return FoundLine(
        tuple((x, y) for x, y in body.get("polygon", ())),
        tuple((x, y) for x, y in body.get("baseline", ())),
        tuple(body["rect"]),
        body.get("kind", "line"),
        body.get("confidence"),
        body.get("direction"),
        body.get("kind_raw"),
        body.get("key"),
        body.get("parent"),
    )


def unpack_shape(body: Mapping[str, Any]) -> LineShape:
    """A line to be read as it arrived."""
    return LineShape(
        tuple(body["rect"]),
        tuple((x, y) for x, y in body.get("polygon") or ()),
        tuple((x, y) for x, y in body.get("baseline") or ()),
        body.get("direction"),
    )


def pack_reading(reading: LineReading) -> dict[str, Any]:
    """A reading as it travels; lone surrogates, which no JSON carries, become the replacement character."""
    text = reading.text.encode("utf-8", "replace").decode("utf-8")
    body: dict[str, Any] = {"text": text}
    if reading.confidence is not None:
        body["confidence"] = _share(reading.confidence)
    return body


def _share(value: Any) -> float:
    number = float(value)
    return min(max(number, 0.0), 1.0) if math.isfinite(number) else 0.0
