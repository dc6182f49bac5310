"""Pairs layout files with pictures: by METS, by the name declared, by the file's own name, by size if names
fail.

Pure: names and sizes in, pairs and reasons out. A name declared in a file is only compared with the names of
imported pictures, never opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from armarium_formats.batches.names import (
    Folder,
    last_part,
    layout_stems,
    picture_folders,
    picture_keys,
    plain,
    spelled_alike,
)
from armarium_formats.mets.reader import MetsPage
from armarium_formats.opening import Size, are_alike

How: TypeAlias = Literal["declared", "name", "mets", "size"]


@dataclass(frozen=True, slots=True)
class PictureFile:
    """An imported picture: `pages` is the number of pages below it (a PDF), 0 for a single picture."""

    key: str
    folder: Folder
    name: str
    size: Size | None = None
    pages: int = 0


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """What a page of a layout file states about its picture."""

    image: str = ""
    size: Size | None = None


@dataclass(frozen=True, slots=True)
class LayoutFile:
    """An imported layout file that was read."""

    folder: Folder
    name: str
    pages: tuple[LayoutPage, ...]

    @property
    def place(self) -> str:
        """Return its name in reports."""
        return "/".join((*self.folder, self.name))


@dataclass(frozen=True, slots=True)
class Pair:
    """Page `page` of a layout file belongs to the picture `picture`, or to its page `part` (both from 0)."""

    page: int
    picture: PictureFile
    part: int | None = None
    how: How = "name"
    notes: tuple[str, ...] = ()
    group: str = ""
    """The fileGrp that a METS file has the layout file in: what its pass is called by."""


@dataclass(frozen=True, slots=True)
class UnpairedPage:
    """A page of a layout file without a picture, and why; `size` if its size may still find one."""

    page: int
    why: str
    size: Size | None = None


_Place: TypeAlias = tuple[Folder, str]
"""Folders and name of a file, as they are compared."""


@dataclass(frozen=True, slots=True)
class _MetsStatement:
    """What METS states about a layout file: the pictures of its page, best first, and its fileGrp."""

    pictures: tuple[PictureFile, ...]
    group: str


@dataclass(slots=True)
class Pictures:
    """The pictures of a batch, found by name, place and size."""

    items: list[PictureFile]
    mets: dict[_Place, _MetsStatement] = field(default_factory=dict)
    """Layout file to what METS files say of it, by its place."""
    mets_spelled: dict[_Place, _MetsStatement] = field(default_factory=dict)
    """The same, by its place as they spell it."""
    _mets_far: dict[str, list[_MetsStatement]] = field(default_factory=dict)
    _near: dict[tuple[Folder, str], list[PictureFile]] = field(default_factory=dict)
    _far: dict[str, list[PictureFile]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in self.items:
            for key in picture_keys(item.name):
                self._near.setdefault((_normalise_folder(item.folder), key), []).append(item)
                self._far.setdefault(key, []).append(item)

    def take_mets(self, folder: Folder, pages: Iterable[MetsPage]) -> None:
        """Add the pages of a METS file in *folder*; if two name the same layout file, the first counts."""
        for page in pages:
            pictures = tuple(self.of_page(folder, page))
            for path, group in zip(page.layouts, page.groups, strict=True):
                mets = _MetsStatement(pictures, group)
                self.mets_spelled.setdefault(_spelled_path(folder, path), mets)
                self.mets.setdefault(locate_path(folder, path), mets)
                self._mets_far.setdefault(plain(last_part(path)), []).append(mets)

    def of_page(self, folder: Folder, page: MetsPage) -> list[PictureFile]:
        """Return the imported pictures of a METS file's page, best first.

        A picture imported without its folders, or stated at an address that is not opened, is found by name if that is
        unique.
        """
        pictures: list[PictureFile] = []
        for path in page.images:
            place, name = locate_path(folder, path)
            matches = [
                picture for picture in self._near.get((place, name), ()) if plain(picture.name) == name
            ]
            if not matches:
                matches = [picture for picture in self._far.get(name, ()) if plain(picture.name) == name]
            matches = spelled_alike(path.rpartition("/")[2], matches, _name)
            if len(matches) == 1:
                pictures += matches
        for name in () if pictures else page.elsewhere:
            matches = spelled_alike(
                name,
                [picture for picture in self._far.get(plain(name), ()) if plain(picture.name) == plain(name)],
                _name,
            )
            pictures += matches if len(matches) == 1 else []
        return list(dict.fromkeys(pictures))

    def find_named(self, folder: Folder, names: Sequence[str]) -> list[PictureFile]:
        """Return the pictures that one of *names* means, nearest to *folder* and spelled most like it; several if
        ambiguous.
        """
        for name in names:
            for place in picture_folders(folder):
                if pictures := self._near.get((_normalise_folder(place), plain(name))):
                    pictures = [picture for picture in pictures if picture.folder == place] or pictures
                    return spelled_alike(name, pictures, _name)
        for name in names:
            if pictures := self._far.get(plain(name)):
                return spelled_alike(name, pictures, _name)
        return []

    def pair(self, layout: LayoutFile) -> list[Pair | UnpairedPage]:
        """Return, for each page of a layout file, its picture by name and METS, or why there is none."""
        if len(layout.pages) == 1:
            mets = self._mets_statement(layout)
            single = self._single(layout, layout.pages[0], mets.pictures)
            return [replace(single, group=mets.group) if isinstance(single, Pair) else single]
        whole = [
            picture for picture in self.find_named(layout.folder, layout_stems(layout.name)) if picture.pages
        ]
        results: list[Pair | UnpairedPage] = []
        page_by_picture: dict[str, int] = {}
        for number, page in enumerate(layout.pages):
            result = self._of_several(layout, number, page, whole)
            if isinstance(result, Pair) and result.part is None:
                first = page_by_picture.setdefault(result.picture.key, number)
                if first != number:
                    why = f"Page {first + 1} of the file belongs to {result.picture.name}, which it also names for this one."
                    result = UnpairedPage(number, why, page.size)
            results.append(result)
        return results

    def hint(self, folder: Folder, name: str) -> PictureFile | None:
        """Return the one picture that a layout file's own name suggests, before it is read."""
        pictures = self.find_named(folder, layout_stems(name))
        return pictures[0] if len(pictures) == 1 and not pictures[0].pages else None

    def _single(
        self, layout: LayoutFile, page: LayoutPage, mets_pictures: Sequence[PictureFile]
    ) -> Pair | UnpairedPage:
        # METS names exactly these files, so it takes precedence over names, unless the proportions contradict
        # it.
        for picture in mets_pictures:
            if page.size is None or picture.size is None or are_alike(page.size, picture.size):
                return self._check_pair(0, page, picture, "mets")
        declared = self._find_declared(layout.folder, page)
        if len(declared) == 1:
            return self._check_pair(0, page, declared[0], "declared")
        own = self.find_named(layout.folder, layout_stems(layout.name))
        narrowed = _select_fitting(declared or own, page)
        if len(narrowed) == 1:
            return self._check_pair(0, page, narrowed[0], "declared" if declared else "name")
        if mets_pictures:
            return self._check_pair(0, page, mets_pictures[0], "mets")
        several = declared or own
        if several:
            names = " and ".join(f"{'/'.join((*picture.folder, picture.name))}" for picture in several[:4])
            return UnpairedPage(
                0, f"Several pictures have its name: {names}. Import it into the one it belongs to."
            )
        return UnpairedPage(0, _nothing(page), page.size)

    def _check_pair(
        self, number: int, page: LayoutPage, picture: PictureFile, how: How
    ) -> Pair | UnpairedPage:
        """Return the pair, unless both the file's stated picture and its proportions contradict it."""
        if picture.pages:
            return Pair(number, picture, 0 if picture.pages else None, how, _first_of(picture))
        foreign = (
            how != "declared"
            and page.image
            and plain(last_part(page.image)) not in picture_keys(picture.name)
        )
        if foreign and page.size and picture.size and not are_alike(page.size, picture.size):
            return UnpairedPage(
                number,
                f"It has the name of {picture.name}, but states that it belongs to {last_part(page.image)} "
                f"with {page.size[0]} x {page.size[1]} pixels, and {picture.name} has {picture.size[0]} x "
                f"{picture.size[1]}.",
            )
        notes: tuple[str, ...] = ()
        if foreign:
            by = "a METS file" if how == "mets" else "its own name"
            notes = (f"The file names {last_part(page.image)}; it was paired with {picture.name} by {by}.",)
        return Pair(number, picture, None, how, notes)

    def _of_several(
        self, layout: LayoutFile, number: int, page: LayoutPage, whole: list[PictureFile]
    ) -> Pair | UnpairedPage:
        declared = self._find_declared(layout.folder, page)
        single = [picture for picture in declared if not picture.pages]
        if len(single) == 1:
            return self._check_pair(number, page, single[0], "declared")
        many = [picture for picture in declared if picture.pages] or whole
        if len(many) == 1:
            if number < many[0].pages:
                return Pair(number, many[0], number, "declared" if many[0] in declared else "name")
            return UnpairedPage(number, f"{many[0].name} has {many[0].pages} pages, so there is none for it.")
        return UnpairedPage(number, _nothing(page), page.size)

    def _find_declared(self, folder: Folder, page: LayoutPage) -> list[PictureFile]:
        if not page.image:
            return []
        name = last_part(page.image)
        pictures = self.find_named(folder, [name])
        # The page of book.tif may be here as book.jpg.
        return pictures or (self.find_named(folder, [name.rpartition(".")[0]]) if "." in name else [])

    def _mets_statement(self, layout: LayoutFile) -> _MetsStatement:
        """Return what METS states about a layout file, by path, else by name if that is unique."""
        mets = self.mets_spelled.get((layout.folder, layout.name)) or self.mets.get(
            (_normalise_folder(layout.folder), plain(layout.name))
        )
        if mets is None:
            far = self._mets_far.get(plain(layout.name), ())
            mets = far[0] if len(far) == 1 else None
        return mets or _MetsStatement((), "")


def pair_by_size(
    alone: Sequence[tuple[str, UnpairedPage]], pictures: Iterable[PictureFile]
) -> dict[str, PictureFile | str]:
    """Pair the remaining pages (key, Alone) with the only picture of exactly their size, or say why not.

    *pictures*: those not paired yet. Two pages or two pictures of one size are ambiguous.
    """
    free: dict[Size, list[PictureFile]] = {}
    for picture in pictures:
        if picture.size is not None and not picture.pages:
            free.setdefault(picture.size, []).append(picture)
    wanting = Counter(page.size for _, page in alone if page.size is not None)
    paired: dict[str, PictureFile | str] = {}
    for key, unpaired_page in alone:
        if unpaired_page.size is None or unpaired_page.size not in free:
            paired[key] = unpaired_page.why
            continue
        candidates, claims = free[unpaired_page.size], wanting[unpaired_page.size]
        if len(candidates) == 1 and claims == 1:
            paired[key] = candidates[0]
        else:
            paired[key] = (
                f"{unpaired_page.why} Its size, {unpaired_page.size[0]} x {unpaired_page.size[1]}, does not decide it either: "
                f"{len(candidates)} pictures and {claims} layout files have it."
            )
    return paired


def _select_fitting(several: list[PictureFile], page: LayoutPage) -> list[PictureFile]:
    if len(several) < 2 or page.size is None:
        return several
    return [picture for picture in several if picture.size == page.size] or several


def _nothing(page: LayoutPage) -> str:
    if page.image:
        return (
            f"It belongs to {last_part(page.image)[:200]}, and no picture of that name or of its own was "
            "included."
        )
    return "No picture of its name was included."


def _first_of(picture: PictureFile) -> tuple[str, ...]:
    return (f"{picture.name} has {picture.pages} pages; the file describes one, so the first was used.",)


def _normalise_folder(folder: Folder) -> Folder:
    return tuple(plain(part) for part in folder)


def _name(picture: PictureFile) -> str:
    return picture.name


def _spelled_path(folder: Folder, path: str) -> tuple[Folder, str]:
    """Return the path that a file in *folder* names, as it spells it."""
    parts = path.split("/")
    return (*folder, *parts[:-1]), parts[-1]


def locate_path(folder: Folder, path: str) -> tuple[Folder, str]:
    """Return the normalised path that a file in *folder* names."""
    place, name = _spelled_path(folder, path)
    return _normalise_folder(place), plain(name)
