"""The fonts that come with Armarium for texts of every script, and in which order they are tried.

The fonts lie in packages of their own, each with its licence; a package that is not installed is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

EXTRAS = "fonts"
"""A plugin that brings fonts puts `FontPackage`s into its `extras` under this name; they come after ours."""
_TRIED_AT = 32
"""Pixels at which it is tried whether a font has a letter."""


@dataclass(frozen=True)
class FontPackage:
    """A package of fonts (`fontpkg-*`) and what it is taken for."""

    module: str
    """The package that holds `metadata.json`, `LICENSE` and `files/`."""
    scripts: tuple[str, ...]
    """ISO 15924 codes of the scripts that its upright font covers."""


FONT_PACKAGES = (
    # Medieval Latin (with the letters of MUFI), polytonic Greek, Hebrew with points, Gothic, runes.
    FontPackage("fontpkg_cardo", ("Latn", "Grek", "Hebr", "Goth", "Runr", "Ital")),
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
"""In the order in which they are tried."""


@dataclass(frozen=True)
class BundledFont:
    """One font file and its licence."""

    name: str
    family: str
    scripts: tuple[str, ...]
    file: str
    licence: str
    licence_file: str
    order: int
    path: Path
    licence_path: Path


def bundled_fonts(packages: tuple[FontPackage, ...] = FONT_PACKAGES) -> list[BundledFont]:
    """The upright font of each package that is installed, in fallback order, numbered from 1."""
    found = [font for package in packages if (font := _font_of(package)) is not None]
    return [replace(font, order=order) for order, font in enumerate(found, 1)]


@cache
def _font_of(package: FontPackage) -> BundledFont | None:
    spec = find_spec(package.module)
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    about = json.loads((root / "metadata.json").read_text(encoding="utf-8"))
    upright = [one for one in about["files"] if one["style"] == "normal"]
    chosen = min(
        upright, key=lambda one: (not one["variable"], abs((one["weight"] or 400) - 400)), default=None
    )
    if chosen is None or not (root / chosen["path"]).is_file() or not (root / "LICENSE").is_file():
        return None
    path = root / chosen["path"]
    # A variable font names its axes in brackets, which no address likes.
    file = f"{path.stem.split('[')[0]}{path.suffix}"
    name = str(about["slug"])
    return BundledFont(
        name=name,
        family=about["family"],
        scripts=package.scripts,
        file=file,
        licence=about["license"],
        licence_file=f"{name}-licence.txt",
        order=0,
        path=path,
        licence_path=root / "LICENSE",
    )


def font_for(text: str) -> Path | None:
    """The bundled font that has most letters of *text*, the first of them; None where none is there."""
    letters = {char for char in text if not char.isspace()}
    best: tuple[int, Path] | None = None
    for font in bundled_fonts():
        lacking = sum(1 for char in letters if not has_letter(font.path, char))
        if best is None or lacking < best[0]:
            best = lacking, font.path
    return None if best is None else best[1]


@lru_cache(maxsize=50_000)
def has_letter(path: Path, char: str) -> bool:
    """Whether a font has a letter: what it lacks looks as U+FFFF, which no font has."""
    sign, absent = (_opened(path).getmask(one) for one in (char, "\uffff"))
    return (sign.size, bytes(sign)) != (absent.size, bytes(absent))


@lru_cache(maxsize=32)
def _opened(path: Path) -> ImageFont.FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(str(path), _TRIED_AT, layout_engine=ImageFont.Layout.BASIC)
