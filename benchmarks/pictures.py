"""Row 10: a crop and a thumbnail of a 10-megapixel JPEG, stored in the project, against Pillow and pyvips writing
files.

The engine opens the picture through its guard, stores the crop under the digest of its bytes, flushed to disk, and
records it. The peers decode, crop or reduce, and write the same kind of JPEG to a file.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

from armarium.api import Library, open_image
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import running_engine, scratch_folder

WIDTH, HEIGHT = 3872, 2592
SIDE = 512
CROPS = 6
CROP = (1200, 800)
MOST = 200_000_000


def measure(rounds: int) -> list[Result]:
    """Measure seconds per crop and per thumbnail, each against both peers; the limit is against the faster."""
    import pyvips

    pyvips.cache_set_max(0)
    with scratch_folder() as folder, running_engine(folder) as (_, library):
        path = folder / "page.jpg"
        draw(path, WIDTH, HEIGHT)
        checksum = library.objects.put_file(path)
        target = folder / "made.jpg"
        die = random.Random(10)
        places = itertools.cycle(
            [(die.randrange(WIDTH - CROP[0]), die.randrange(HEIGHT - CROP[1])) for _ in range(997)]
        )

        def cut_by_pillow() -> None:
            from PIL import Image

            x, y = next(places)
            with Image.open(path) as image:
                piece = image.crop((x, y, x + CROP[0], y + CROP[1]))
            piece.save(target, "JPEG", quality=95, subsampling=0)

        def cut_by_vips() -> None:
            x, y = next(places)
            image = pyvips.Image.new_from_file(str(path), access="sequential")
            image.crop(x, y, *CROP).jpegsave(str(target), Q=95, subsample_mode="off")

        def shrink_by_pillow() -> None:
            from PIL import Image

            with Image.open(path) as image:
                image.thumbnail((SIDE, SIDE))
                image.save(target, "JPEG", quality=82)

        def shrink_by_vips() -> None:
            pyvips.Image.thumbnail(str(path), SIDE, height=SIDE).jpegsave(str(target), Q=82)

        cut, shrink = _cutting(library, checksum, places), _shrinking(library, checksum)
        size = f"{WIDTH * HEIGHT / 1e6:.0f}-megapixel JPEG"
        found = []
        for what, ours, peers in (
            (f"crop of {CROP[0]:,} x {CROP[1]} out of a {size}", cut, (cut_by_pillow, cut_by_vips)),
            (f"thumbnail of {SIDE} pixels of a {size}", shrink, (shrink_by_pillow, shrink_by_vips)),
        ):
            names = ("Pillow (draft)" if ours is shrink else "Pillow", "pyvips")
            both = dict(zip(names, peers, strict=True))
            fastest = min(both, key=lambda name: _mean(both[name]))
            for name, peer in both.items():
                found.append(
                    compare(
                        10,
                        what,
                        engine=lambda ours=ours: _mean(ours),  # type: ignore[misc]
                        peer=lambda peer=peer: _mean(peer),  # type: ignore[misc]
                        peer_name=f"{name}, the faster" if name == fastest else name,
                        unit="s",
                        rounds=rounds,
                        limit=1.1 if name == fastest else None,
                    )
                )
        return found


def _cutting(library: Library, checksum: str, places: itertools.cycle[tuple[int, int]]) -> Callable[[], None]:
    from armarium_images.cutting import Frame, cut_pieces
    from armarium_images.orientation import Box

    frame = Frame("page", "page.jpg", "rendition", checksum, WIDTH, HEIGHT, 1, False)

    def cut() -> None:
        cut_pieces(library, frame, [Box(*next(places), *CROP)], max_pixels=MOST)

    return cut


def _shrinking(library: Library, checksum: str) -> Callable[[], None]:
    from armarium_documents.pictures import thumbnail_draft, write_thumbnail

    def shrink() -> None:
        image = open_image(
            library.objects.path(checksum),
            shrink_to=thumbnail_draft(WIDTH, HEIGHT),
            max_pixels=MOST,
            name="page.jpg",
        )
        write_thumbnail(library, checksum, image)

    return shrink


def _mean(work: Callable[[], None]) -> float:
    return seconds(lambda: [work() for _ in range(CROPS)]) / CROPS


def draw(path: Path, width: int, height: int) -> None:
    """Draw a page with paper grain and lines of ink, so that its JPEG is about as large as a photograph's."""
    from PIL import Image, ImageDraw

    grain = Image.effect_noise((width // 3, height // 3), 24).resize(
        (width, height), Image.Resampling.BICUBIC
    )
    image = Image.merge("RGB", (grain, grain.point(lambda v: v * 0.9), grain.point(lambda v: v * 0.75)))
    pen = ImageDraw.Draw(image)
    die = random.Random(7)
    for top in range(200, height - 200, 110):
        x = 300
        while x < width - 300:
            wide = die.randrange(20, 160)
            pen.line((x, top, x + wide, top + die.randrange(-30, 30)), (50, 40, 30), die.randrange(4, 12))
            x += wide + die.randrange(10, 50)
    image.save(path, "JPEG", quality=90)
