"""Row 19: a IIIF tile of 512 by 512 pixels from a 50-megapixel page, against pyvips alone on the same file.

The first tile pays for decoding the page; later ones are cut from the cached page. Both are measured, and the small
picture a viewer begins with. Tiles lie at seeded random positions, the same for both.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from benchmarks.harness import Result, compare, seconds
from benchmarks.pictures import draw
from benchmarks.places import OWNER, running_engine, scratch_folder

WIDTH, HEIGHT = 8660, 5774
TILE = 512
TILES = 24
FIRST = 6
QUALITY = 85


def measure(rounds: int) -> list[Result]:
    """Measure seconds per tile: the first of a page, the next ones, and the whole page reduced."""
    import pyvips

    from armarium_iiif.image_service import picture, piece, piece_bytes
    from armarium_iiif.pixels import pictures_of

    page = f"{WIDTH * HEIGHT / 1e6:.0f}-megapixel JPEG page"
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        path = folder / "page.jpg"
        draw(path, WIDTH, HEIGHT)
        document = _add(engine, library, path)
        die = random.Random(19)
        places = [
            (TILE * die.randrange(WIDTH // TILE), TILE * die.randrange(HEIGHT // TILE)) for _ in range(TILES)
        ]
        # libvips caches what it opened; here each side caches only what it is told to.
        pyvips.cache_set_max(0)

        def tile(x: int, y: int, size: str = "max", width: int = TILE, height: int = TILE) -> bytes:
            found = picture(engine, library, document)
            region = f"{x},{y},{width},{height}"
            request, _ = piece(found, region, size, "0", "default", "jpg")
            return piece_bytes(engine, library, found, request)

        def forget() -> None:
            pictures_of(engine).forget()

        def first() -> float:
            return seconds(lambda: [(forget(), tile(*at)) for at in places[:FIRST]]) / FIRST

        def first_by_vips() -> float:
            def work(at: tuple[int, int]) -> None:
                image = pyvips.Image.new_from_file(str(path), access="sequential")
                image.crop(*at, TILE, TILE).jpegsave_buffer(Q=QUALITY)

            return seconds(lambda: [work(at) for at in places[:FIRST]]) / FIRST

        def following() -> float:
            for at in places[:2]:  # the second request makes the page worth caching
                tile(*at)
            return seconds(lambda: [tile(*at) for at in places]) / TILES

        def following_by_vips() -> float:
            held = pyvips.Image.new_from_file(str(path)).copy_memory()
            return (
                seconds(lambda: [held.crop(*at, TILE, TILE).jpegsave_buffer(Q=QUALITY) for at in places])
                / TILES
            )

        def small() -> float:
            return _mean(lambda: (forget(), tile(0, 0, "1024,", WIDTH, HEIGHT)))

        def small_by_vips() -> float:
            return _mean(lambda: pyvips.Image.thumbnail(str(path), 1024).jpegsave_buffer(Q=QUALITY))

        return [
            compare(
                19, f"the first 512 x 512 tile of a {page}", engine=first, peer=first_by_vips,
                peer_name="pyvips, the file opened for it", unit="s", rounds=rounds, limit=1.5,
            ),
            compare(
                19, f"the next tiles of a {page}", engine=following, peer=following_by_vips,
                peer_name="pyvips, the page held in memory", unit="s", rounds=rounds, limit=1.5,
            ),
            compare(
                19, f"a {page} 1,024 pixels wide", engine=small, peer=small_by_vips,
                peer_name="pyvips thumbnail", unit="s", rounds=rounds, limit=1.5,
            ),
        ]  # fmt: skip


def _mean(work: Any, times: int = 3) -> float:
    return seconds(lambda: [work() for _ in range(times)]) / times


def _add(engine: Engine, library: Library, path: Path) -> str:
    document = new_id()
    with library.db.read() as conn:
        raw = raw_of(conn)
        parent = raw.execute("SELECT id FROM document WHERE system_key = 'sources'").fetchone()[0]
    node = {
        "id": document,
        "parent_id": parent,
        "doc_type": "file",
        "file_type": "image",
        "name": path.name,
        "picture": {
            "checksum": library.objects.put_file(path),
            "mime_type": "image/jpeg",
            "size_bytes": path.stat().st_size,
            "pixel_width": WIDTH,
            "pixel_height": HEIGHT,
        },
    }
    engine.run(library, "document.add_files", {"nodes": [node]}, OWNER)
    return document
