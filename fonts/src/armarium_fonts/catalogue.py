"""Which fonts are installed, with their licences, and in which order they are tried.

Some come in packages installed with this one; those of `catalogue.tsv` come from the font folders of the
machine, if they are installed there (Debian's fonts-noto-core and fonts-junicode, for instance). A font that
is not installed is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from armarium_fonts.shaping import has_letters, licence_in

OFL = "OFL-1.1"
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class FontPackage:
    """A third-party package that contains a font and its licence."""

    module: str
    scripts: tuple[str, ...]
    """ISO 15924 codes of the scripts for which it is used."""
    file: str = ""
    """The font file in it; "" for a package `fontpkg-*`, which states it in `metadata.json`."""
    family: str = ""


FIRST = (
    # Medieval Latin with the letters of MUFI, Greek with its accents, Hebrew with points. It has no glyphs
    # for Gothic and most runes.
    FontPackage("fontpkg_cardo", ("Latn", "Grek", "Hebr", "Ital")),
)
NEXT = (
    FontPackage("fontpkg_noto_serif", ("Latn", "Grek", "Cyrl")),
    FontPackage("fontpkg_frank_ruhl_libre", ("Hebr",)),
    FontPackage("fontpkg_amiri", ("Arab",)),
    FontPackage("fontpkg_noto_sans_devanagari", ("Deva",)),
    FontPackage("fontpkg_hind_siliguri", ("Beng",)),
    FontPackage("fontpkg_noto_sans_tamil", ("Taml",)),
    FontPackage("fontpkg_noto_sans_telugu", ("Telu",)),
    FontPackage("fontpkg_noto_sans_thai", ("Thai",)),
    FontPackage("fontpkg_noto_sans_khmer", ("Khmr",)),
)
_NOTO = "manimgx_fonts"
"""A package that carries Noto as it is published, and its licence."""
SPARE = tuple(
    FontPackage(_NOTO, scripts, f"NotoSans{name}[wght].ttf", f"Noto Sans {name}")
    for name, scripts in (
        ("Armenian", ("Armn",)),
        ("Georgian", ("Geor", "Geok")),
        ("Ethiopic", ("Ethi",)),
        ("Gujarati", ("Gujr",)),
        ("Gurmukhi", ("Guru",)),
        ("Kannada", ("Knda",)),
        ("Lao", ("Laoo",)),
        ("Malayalam", ("Mlym",)),
        ("Myanmar", ("Mymr",)),
        ("Oriya", ("Orya",)),
        ("Sinhala", ("Sinh",)),
        ("Symbols", ("Zsym",)),
    )
)
"""Fonts for scripts for which the machine has none: its own have serifs."""
PEN = FontPackage("fontpkg_dancing_script", ("Latn",))
"""Looks like pen writing; never chosen automatically."""
CJK = FontPackage(
    "noto_cjk_sans_jp_regular",
    ("Hani", "Hira", "Kana", "Hang", "Bopo"),
    "NotoSansCJKjp-Regular.otf",
    "Noto Sans CJK JP",
)


@dataclass(frozen=True)
class BundledFont:
    """A font file and its licence."""

    name: str
    family: str
    scripts: tuple[str, ...]
    file: str
    licence: str
    licence_file: str
    order: int
    path: Path
    licence_text: str


FOLDERS = tuple(
    Path(folder).expanduser()
    for folder in (
        "~/.local/share/fonts",
        "~/.fonts",
        "/usr/local/share/fonts",
        "/usr/share/fonts",
        "~/Library/Fonts",
        "/Library/Fonts",
    )
)
"""Where people and systems put fonts; the first folder that has a file is used."""


@cache
def bundled_fonts() -> tuple[BundledFont, ...]:
    """Return the installed fonts, in the order in which they are tried, numbered from 1.

    Latin, Greek and Cyrillic come first, then a font for each script, then Chinese, Japanese and Korean, then
    symbols.
    """
    fonts_here = list(installed_fonts(FOLDERS))
    ours = [*fonts_here, *(font for font in packaged_fonts(SPARE) if not _is_spared(font, fonts_here))]
    latin = [font for font in ours if "Latn" in font.scripts]
    symbols = [font for font in ours if font.scripts[0].startswith("Z")]
    others = [font for font in ours if font not in latin and font not in symbols]
    return number_fonts(
        [*packaged_fonts(FIRST), *latin, *packaged_fonts(NEXT), *others, *packaged_fonts([CJK]), *symbols]
    )


def _is_spared(font: BundledFont, fonts_here: Iterable[BundledFont]) -> bool:
    """Whether the machine has a font, or for its scripts others; of symbols no font has all."""
    families = {font.family for font in fonts_here}
    scripts = {script for font in fonts_here for script in font.scripts if not script.startswith("Z")}
    return font.family in families or scripts.issuperset(font.scripts)


def fonts_for(letters: Iterable[str]) -> tuple[BundledFont, ...]:
    """Return for each of *letters* the first font that has it; letters that no font has are skipped."""
    fonts = bundled_fonts()
    first = (
        next((font for font in fonts if has_letters(str(font.path), letter)), None) for letter in set(letters)
    )
    first_fonts = {font.order: font for font in first if font is not None}
    return tuple(first_fonts[order] for order in sorted(first_fonts))


def pen_font() -> BundledFont | None:
    """Return the font whose letters are joined as in handwriting; None if its package is not installed."""
    return next(packaged_fonts([PEN]), None)


def number_fonts(fonts: Iterable[BundledFont]) -> tuple[BundledFont, ...]:
    """Number the fonts by their place in the order, from 1."""
    return tuple(replace(font, order=order) for order, font in enumerate(fonts, 1))


def packaged_fonts(packages: Iterable[FontPackage]) -> Iterator[BundledFont]:
    """Return the upright font of each of these packages that is installed and contains its licence."""
    for package in packages:
        spec = find_spec(package.module)
        if spec is None or spec.origin is None:
            continue
        root = Path(spec.origin).parent
        font = _font_at(package, root) if package.file else _font_by_metadata(package, root)
        if font is not None:
            yield font


def installed_fonts(folders: Iterable[Path]) -> Iterator[BundledFont]:
    """Return the fonts of `catalogue.tsv` (file, family, scripts) in *folders* that state a free licence."""
    lines = (_HERE / "catalogue.tsv").read_text(encoding="utf-8").splitlines()
    here = _files(folders, {line.partition("\t")[0] for line in lines})
    for line in lines:
        file, family, scripts = line.split("\t")
        if file in here and (licence := licence_in(str(here[file]))) is not None:
            yield _font(family, tuple(scripts.split(",")), here[file], OFL, licence)


def _files(folders: Iterable[Path], names_wanted: set[str]) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for folder in folders:
        for at, _, files in os.walk(folder):
            for file in names_wanted.intersection(files):
                paths.setdefault(file, Path(at) / file)
    return paths


def _font_at(package: FontPackage, root: Path) -> BundledFont | None:
    """Return a font at a known path; its licence is part of the package's metadata."""
    folders = root.parent.glob(f"{package.module}-*.dist-info")
    licence = next((path for folder in folders for path in folder.rglob("LICENSE*")), None)
    path = root / package.file
    if licence is None or not path.is_file():
        return None
    return _font(package.family, package.scripts, path, OFL, licence.read_text("utf-8"))


def _font_by_metadata(package: FontPackage, root: Path) -> BundledFont | None:
    about = json.loads((root / "metadata.json").read_text(encoding="utf-8"))
    upright = [file for file in about["files"] if file["style"] == "normal"]
    chosen = min(
        upright,
        key=lambda file: (
            not file["variable"],
            abs((file["weight"] or 400) - 400),
        ),
        default=None,
    )
    if chosen is None or not (root / chosen["path"]).is_file() or not (root / "LICENSE").is_file():
        return None
    licence = (root / "LICENSE").read_text("utf-8")
    return _font(about["family"], package.scripts, root / chosen["path"], about["license"], licence)


def _font(family: str, scripts: tuple[str, ...], path: Path, licence: str, licence_text: str) -> BundledFont:
    name = "-".join(family.lower().split())
    # A variable font names its axes in brackets, which are awkward in URLs.
    file = f"{path.stem.split('[')[0]}{path.suffix}"
    return BundledFont(name, family, scripts, file, licence, f"{name}-licence.txt", 0, path, licence_text)
