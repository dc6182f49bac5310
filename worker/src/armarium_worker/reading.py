"""The reader contract: what a driver that finds or reads lines is, and what the engine reads of it without running it.

The engine reads the class attributes of a reader; its methods run in a worker process. Its module must therefore be
importable where nothing of Armarium but this distribution is installed, and imports heavy libraries only inside
methods. All geometry is in pixels of the page picture, origin top left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from .errors import Refused
from .pictures import flatten_image
from .server import Handler, WorkerContext
from .shapes import FoundLine, LinePlaces, LineReading, LineShape, Page, ReadLine, place

Capability = Literal["find_lines", "read_lines", "read_page", "align_lines"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """An isolated environment that a driver's dependencies need; drivers of the same runtime name the same one.

    `requirements` is a file of pinned versions (no addresses) inside `package`; `probe` is a module that can be
    imported there when the installation is complete; `size_mb` is its approximate size on disk. `node_packages` is a
    folder inside `package` with a package.json and its lock, for a runtime whose requirements bring Node: the
    packages of npm lie in the environment's `node_modules`.
    """

    name: str
    package: str
    requirements: str
    probe: str
    summary: str = ""
    size_mb: int = 0
    node_packages: str = ""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model on this machine: `model` is the value to pass as `model`; its path is None when it ships inside a
    package.

    `details` are shown as they are. Recipes use two of them for a shipped model: `cer`, the fraction of characters that
    it reads wrong on pages it was not trained with (0.1 is one in ten), and `pages_per_hour` on two cores.
    """

    model: str
    label: str
    path: Path | None = None
    size_bytes: int | None = None
    shipped: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def in_folders(cls, folder: Path, file_name: str) -> list[ModelFile]:
        """Return the models that are folders of *folder* with a file of that name, each called as its folder."""
        files = []
        for path in sorted(folder.glob(f"*/{file_name}")) if folder.is_dir() else ():
            size = sum(
                path_there.stat().st_size for path_there in path.parent.rglob("*") if path_there.is_file()
            )
            files.append(cls(path.parent.name, path.parent.name, path, size))
        return files


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A model file that can be downloaded: its address, the name it is stored under, and how to verify it."""

    url: str
    name: str
    checksum: str | None = None
    algorithm: Literal["sha256", "md5"] = "sha256"
    title: str = ""
    licence: str = ""
    page: str = ""


Writing = Literal["hand", "print"]
"""How a page was written: by hand or printed, whether typeset or typewritten."""


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A published model that a reader knows by name, with what a person is told before it is downloaded.

    `doi` is another name for it. `card` is stored as `card.json` beside the downloaded files, for `take_model`; without `files`,
    `Reader.remote` says where the model is. `cer` is the fraction of wrong characters that its authors state.
    """

    model: str
    title: str
    licence: str
    authors: str
    page: str
    reads: str
    size_bytes: int
    files: tuple[RemoteFile, ...] = ()
    doi: str = ""
    languages: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    writing: tuple[Writing, ...] = ("hand", "print")
    cer: float | None = None
    card: Mapping[str, Any] = field(default_factory=dict)


class Reader:
    """The base of every reader driver: set the class attributes, write the methods named in `can`.

    `find_lines(page)` returns FoundLine values in no particular order. `read_lines(page, lines)` yields one LineReading
    for each given line, in the given order, as soon as each is ready (the engine may stop between two).
    `read_page(page)` yields ReadLine values; the default finds lines, then reads them. `load()` imports heavy libraries
    and loads weights, once. Raise `Refused` with a sentence for what a person can correct. A reader keeps no state
    between pages.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    can: ClassVar[frozenset[Capability]]
    languages: ClassVar[tuple[str, ...]] = ()
    """BCP 47 tags it reads without a model of the user's; empty: any, or according to its model."""
    scripts: ClassVar[tuple[str, ...]] = ()
    writing: ClassVar[frozenset[Writing]] = frozenset({"hand", "print"})
    """The kind of writing its readings are meant for; a page that looks different is reported after reading."""
    picture_mode: ClassVar[Literal["RGB", "L"]] = "RGB"
    """What `open_page` decodes a page picture to: colours, or grey (`L`), which takes less time."""
    calibration: ClassVar[tuple[tuple[float, float], ...]] = ()
    """Ascending pairs of a stated confidence and the fraction of letters that was right then, measured on unseen lines;
    readers without them are not chosen automatically.
    """
    runtime: ClassVar[Runtime | None] = None
    model_kind: ClassVar[str | None] = None
    """The folder of models it takes, as in `/api/local-models/{runtime}`; None: it takes no model files."""
    model_suffixes: ClassVar[tuple[str, ...]] = ()
    model_is_folder: ClassVar[bool] = False
    """True when the file given as model stands for its whole folder, whose name is the model's name."""
    alternatives: int = 0
    """How many alternative texts of each line are requested; a reader that has none returns none."""
    reading_needs_model: ClassVar[bool] = False
    """True when `read_lines` cannot work without a model file."""
    model_parts: ClassVar[tuple[str, ...]] = ()
    """The names of the files in which its models are published, the one that counts first; only it is required. Empty: a
    model is one file. With parts, its worker answers `take_model`: given their `folder` it checks them and answers {model,
    title, licence, authors, page, languages, scripts, writing}, `model` being the path of the one file to keep.
    """
    largest_model: ClassVar[int] = 8 << 30
    """Bytes: a larger model file is refused before it is looked at."""

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
        """Return the lines (and regions) of a page; an empty page has none."""
        raise Refused(f"{self.label} does not find lines; choose a reader that does.")

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterable[LineReading]:
        """Yield one reading for each given line, in the given order."""
        raise Refused(f"{self.label} does not read given lines; choose a reader that does.")

    def align_lines(
        self, page: Page, lines: Sequence[LineShape], texts: Sequence[str]
    ) -> Iterable[LinePlaces | str]:
        """Yield for each line, in order, where the letters of its text stand; a sentence where the text does not fit it."""
        raise Refused(f"{self.label} does not say where letters stand; choose a reader that does.")

    def read_page(self, page: Page) -> Iterable[ReadLine]:
        """Yield the lines of a page, each with its reading; regions have an empty reading."""
        placed_lines = [placed for line in self.find_lines(page) if (placed := place(line, page)) is not None]
        lines = [line for line in placed_lines if line.kind == "line"]
        yield from (ReadLine(line, LineReading("")) for line in placed_lines if line.kind != "line")
        shapes = [
            LineShape(line.rect, line.polygon, line.baseline, line.direction) for line in lines if line.rect
        ]
        yield from map(ReadLine, lines, self.read_lines(page, shapes))

    def open_page(self, path: Path, max_pixels: int) -> Page:
        """Decode a page picture, upright; the default uses Pillow and returns an image of `picture_mode`."""
        from PIL import Image, ImageOps

        Image.MAX_IMAGE_PIXELS = None
        try:
            with Image.open(path) as image:
                check_size(image.size, max_pixels)
                # A JPEG is then decoded without its colours.
                image.draft(self.picture_mode, None)
                # In place, and converted only if it must be: each copy of a page takes as long as half its decoding.
                ImageOps.exif_transpose(image, in_place=True)
                image.load()
                upright = flatten_image(image, self.picture_mode)
        except Refused:
            raise
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            raise Refused(
                f"The page picture cannot be decoded ({error}). Import it again from a good copy."
            ) from error
        return Page(path, upright.width, upright.height, upright)

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return the models this machine has for this reader: files in `folder`, and those its packages ship."""
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
        """Return the model file to use when a caller names none; None when none is needed. Called before a job starts.

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
        """Return where the model published under the id *model* can be downloaded; `fetch(url)` uses the engine's
        network gate.

        Called by the engine. Raises Refused when this reader's models cannot be downloaded, or there is none.
        """
        raise Refused(f"Models of {cls.label} cannot be downloaded; put the file among the engine's models.")

    @classmethod
    def offers(cls) -> Sequence[OfferedModel]:
        """Return the published models it knows by name; with `files` only for readers with `model_parts`. Called by the engine,
        and makes no request.
        """
        return ()

    @classmethod
    def why_not(cls, language: str | None) -> str | None:
        """Return a sentence when this reader cannot work here or cannot read this language; None when it can."""
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
        """Return the methods of a worker process of this reader."""
        from .service import ReaderService

        service = ReaderService(cls, context)
        return {
            "load": service.load,
            "find_lines": service.find_lines,
            "read_lines": service.read_lines,
            "read_page": service.read_page,
            "align_lines": service.align_lines,
        }


def check_size(size: tuple[int, int], max_pixels: int) -> None:
    """Refuse a picture over the limit before it is decoded."""
    if size[0] * size[1] > max_pixels:
        raise Refused(f"The page picture has {size[0]} x {size[1]} pixels, over the limit of {max_pixels}.")
