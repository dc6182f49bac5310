"""Row 38: a sheet of the pictures of one hand, against a bare loop that cuts them with each page kept decoded."""

from __future__ import annotations

import io
import os
from pathlib import Path

from armarium.api import ActionContext
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

CROPS = int(os.environ.get("ARMARIUM_BENCH_CROPS", "500"))
"""500 is the full figure."""
A_PAGE = 50
SIZE = (2000, 3000)
HEIGHT = 64
MARGIN = 0.05
"""Fraction of the longer side: the margin that both sides leave around a cut."""


def measure(rounds: int) -> list[Result]:
    """Measure one sheet, from rows to PNG; the bare loop crops, resizes, pastes and writes as many."""
    from PIL import Image, ImageDraw

    from armarium_paleography.queries.sheets import sheet_of_hand
    from armarium_source_model.api import NewPass, NewSegment, add_segments, create_pass

    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        page = Image.new("RGB", SIZE, (236, 228, 210))
        pen = ImageDraw.Draw(page)
        for x in range(40, SIZE[0] - 40, 9):
            for row in range(A_PAGE):
                pen.line((x, 70 + 57 * row, x + 4, 70 + 57 * row + 30), fill=(50, 40, 30), width=3)
        file = io.BytesIO()
        page.save(file, "JPEG", quality=90)
        picture = {"checksum": library.objects.put_bytes(file.getvalue()), "mime_type": "image/jpeg",
                   "size_bytes": file.tell(), "pixel_width": SIZE[0], "pixel_height": SIZE[1]}  # fmt: skip
        box = (engine.run(library, "document.create", {"name": "Box"}, OWNER).result or {})["id"]
        hand = (engine.run(library, "hand.create", {"label": "A"}, OWNER).result or {})["id"]
        pages = [f"{number:032x}" for number in range(1, -(-CROPS // A_PAGE) + 1)]
        nodes = [
            {
                "id": page,
                "parent_id": box,
                "doc_type": "file",
                "file_type": "image",
                "name": f"{page[-3:]}.jpg",
                "picture": picture,
            }
            for page in pages
        ]
        rects = [
            [0.1 + 0.3 * (row % 2), (60 + 57 * row) / SIZE[1], 0.25, 50 / SIZE[1]] for row in range(A_PAGE)
        ]
        shapes = [NewSegment(str(row), "word", rect) for row, rect in enumerate(rects)]

        def write(ctx: ActionContext) -> None:
            from sqlalchemy import text

            crops_left = CROPS
            for page in pages:
                rendition = ctx.conn.execute(
                    text("SELECT id FROM rendition WHERE document_id = :page"), {"page": page}
                ).scalar()
                pass_id = create_pass(ctx, NewPass(page, "Words", provider="reader", model="sample"))
                for segment_id in add_segments(ctx, pass_id, page, rendition, shapes[:crops_left]):
                    ctx.run("hand.attribute", {"hand_id": hand, "segment_id": segment_id})
                crops_left -= A_PAGE

        engine.run(library, "document.add_files", {"nodes": nodes}, OWNER, in_transaction=write)
        path = Path(library.objects.path(str(picture["checksum"])))

        def ours() -> float:
            def run() -> None:
                with library.db.read() as conn:
                    sheet = sheet_of_hand(library, conn, hand, height=HEIGHT)
                assert sheet.shown == CROPS, sheet.shown

            return seconds(run)

        def theirs() -> float:
            def run() -> None:
                sheet = Image.new("RGB", (1600, 60 + (HEIGHT + 45) * (CROPS // 2 + 1)), (250, 248, 243))
                pen = ImageDraw.Draw(sheet)
                x, y = 28, 60
                for number in range(len(pages)):
                    with Image.open(path) as image:
                        image.load()
                        for left, top, width, height in rects[: CROPS - number * A_PAGE]:
                            box = (
                                left * SIZE[0],
                                top * SIZE[1],
                                (left + width) * SIZE[0],
                                (top + height) * SIZE[1],
                            )
                            extra = MARGIN * max(box[2] - box[0], box[3] - box[1])
                            cut = image.crop(
                                (round(box[0]), round(box[1] - extra), round(box[2]), round(box[3] + extra))
                            )
                            scale = HEIGHT / cut.height
                            cut = cut.resize((round(cut.width * scale), HEIGHT), Image.Resampling.LANCZOS)
                            if x + cut.width > 1572:
                                x, y = 28, y + HEIGHT + 45
                            sheet.paste(cut, (x, y))
                            pen.text((x, y + HEIGHT + 6), f"{number + 1:03}.jpg")
                            x += cut.width + 16
                sheet.crop((0, 0, 1600, y + HEIGHT + 45)).save(io.BytesIO(), "PNG")

            return seconds(run)

        return [
            compare(
                38,
                f"a sheet of {CROPS} pictures of one hand from {len(pages)} pages",
                engine=ours,
                peer=theirs,
                peer_name="a bare loop of Pillow, each page decoded once",
                unit="s",
                rounds=rounds,
                limit=1.5,
            )
        ]
