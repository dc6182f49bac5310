"""Row 36: a site of many pages built by Eleventy and Pagefind with its tiles ready, and the tiles of a page against
bare pyvips.

`ARMARIUM_BENCH_PAGES` sets how many pages. Eleventy and Pagefind come from a node_modules folder: that of the checks of
sites (`npm ci` in plugins/exports/tests/site_checks), or the one that `ARMARIUM_SITE_MODULES` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from armarium.api import Engine, Library
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.record_exports import draw

PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "300"))
"""2,000 is the full figure."""
ALLOWED = 60.0
"""Seconds allowed for building 2,000 pages."""
CHECKS = Path(__file__).parents[1] / "plugins" / "exports" / "tests" / "site_checks" / "node_modules"
MODULES = Path(os.environ.get("ARMARIUM_SITE_MODULES") or CHECKS)


def measure(rounds: int) -> list[Result]:
    """Measure seconds; the build is stated for PAGES pages, with a proportional part of the limit for 2,000."""
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        results = _tiles(engine, library, folder, min(rounds, 3))
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        draw(engine, library, pages=PAGES, scale=0.4)
        place = folder / "site"
        took = seconds(lambda: _write(engine, library, place))
        results.append(
            Result(
                36, f"a site of {PAGES:,} pages with tiles, written", "s", took, PAGES, "pages", took / PAGES
            )
        )
        if not (shutil.which("npm") and (MODULES / "@11ty").is_dir()):
            raise RuntimeError(
                "Node or the packages of a site are missing: npm ci in plugins/exports/tests/site_checks"
            )
        (place / "node_modules").symlink_to(MODULES, target_is_directory=True)
        built = seconds(lambda: _build(place))
        allowed = ALLOWED * PAGES / 2000
        results.append(
            Result(
                36,
                f"a site of {PAGES:,} pages built, tiles ready",
                "s",
                built,
                allowed,
                "allowed",
                built / allowed,
                limit=1.0,
            )
        )
        return results


def _write(engine: Engine, library: Library, place: Path) -> None:
    engine.run(library, "export.eleventy", {"output_path": str(place)}, OWNER)


def _build(place: Path) -> None:
    subprocess.run(
        ["npm", "run", "build"], cwd=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _tiles(engine: Engine, library: Library, folder: Path, rounds: int) -> list[Result]:
    """Measure static tiles of one picture of six megapixels; pyvips writes the same layout by its own command."""
    import pyvips

    from armarium_exports.site.tiles import QUALITY, TILE, write_tiles
    from armarium_iiif.api import picture

    file = draw(engine, library, pages=1)
    made = picture(engine, library, f"{1:032x}")

    def ours() -> float:
        shutil.rmtree(folder / "ours", ignore_errors=True)
        return seconds(lambda: write_tiles(made, folder / "ours"))

    def bare() -> float:
        shutil.rmtree(folder / "bare", ignore_errors=True)

        def work() -> None:
            image = pyvips.Image.new_from_file(str(file))
            image.dzsave(str(folder / "bare"), layout="iiif3", tile_size=TILE, suffix=f".jpg[Q={QUALITY}]")

        return seconds(work)

    return [
        compare(
            36,
            "tiles of a page of 6 megapixels",
            engine=ours,
            peer=bare,
            peer_name="pyvips",
            unit="s",
            rounds=rounds,
        )
    ]
