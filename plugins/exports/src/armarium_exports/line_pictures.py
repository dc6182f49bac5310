"""Pictures of lines with their readings, in one Parquet file, for training line readers elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import select

from armarium.api import Engine, Library, ServiceError, open_image
from armarium_documents.api import page_image
from armarium_exports.parquet import write_columns
from armarium_exports.selection import D, Selection
from armarium_source_model.api import ladder_of_pass, line_makers, read_lines, reading_rule, working_pass

QUALITY = 92
AT_A_TIME = 200
"""How many pictures of lines a batch contains."""

TEXTS = (
    "text", "document_id", "segment_id", "pass_id", "representation_id", "basis", "made_by", "maker", "language", "script",
)  # fmt: skip
"""made_by and maker are `by` and `name` of `LineMaker`: whether a person made or checked the text, and what read it."""


def write_line_pictures(engine: Engine, library: Library, selection: Selection, path: Path) -> int:
    """Write a row for each line that has a counting reading and a place on its page's picture; return how many.

    The column `image` has the shape and the metadata by which Hugging Face datasets recognises a picture.
    """
    import pyarrow

    picture = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    features = {"image": {"_type": "Image"}, **{n: {"dtype": "string", "_type": "Value"} for n in TEXTS}}
    schema = pyarrow.schema(
        [("image", picture), *((name, pyarrow.string()) for name in TEXTS)],
        {"huggingface": json.dumps({"info": {"features": features}})},
    )
    counted = 0

    def columns() -> Iterator[list[list[Any]]]:
        nonlocal counted
        rows = _rows(engine, library, selection)
        while batch := list(islice(rows, AT_A_TIME)):
            counted += len(batch)
            yield [[row[name] for row in batch] for name in schema.names]

    write_columns(path, schema, columns(), group=AT_A_TIME)
    return counted


def _rows(engine: Engine, library: Library, selection: Selection) -> Iterator[dict[str, Any]]:
    with library.db.read() as conn:
        rule = reading_rule(conn)
        pages = conn.execute(select(D.id, D.name).order_by(D.id)).all()
        for page_id, name in pages:
            if page_id not in selection.ids:
                continue
            pass_id, _ = working_pass(conn, page_id, rule)
            if pass_id is None:
                continue
            read = read_lines(conn, page_id, pass_id, rule)
            readings = read.counting
            lines = [line for line in read.in_order("line") if line.id in readings]
            if not lines:
                continue
            ladder = ladder_of_pass(conn, page_id, pass_id)
            makers = line_makers(engine, conn, {line.id: readings[line.id] for line in lines})
            try:
                picture = page_image(library, conn, page_id)
                image = open_image(picture.path, max_pixels=engine.settings.max_image_pixels, name=name)
            except ServiceError:
                continue
            about = {"document_id": page_id, "pass_id": pass_id}
            for line in lines:
                if line.anchor.get("rendition_id") not in (None, picture.rendition_id):
                    continue
                x, y, w, h = line.anchor["rect"]
                box = (
                    max(0, int(x * image.width)),
                    max(0, int(y * image.height)),
                    min(image.width, round((x + w) * image.width) or 1),
                    min(image.height, round((y + h) * image.height) or 1),
                )
                if box[2] <= box[0] or box[3] <= box[1]:
                    continue
                file = io.BytesIO()
                image.crop(box).convert("L" if image.mode in ("1", "L") else "RGB").save(
                    file, "JPEG", quality=QUALITY
                )
                counting = readings[line.id]
                yield {
                    "image": {"bytes": file.getvalue(), "path": f"{line.id}.jpg"},
                    "text": counting.text,
                    "segment_id": line.id,
                    "representation_id": counting.representation_id,
                    "basis": counting.basis,
                    "made_by": makers[line.id].by,
                    "maker": makers[line.id].name,
                    **about,
                    "language": ladder.value("language", line.id),
                    "script": ladder.value("script", line.id),
                }
