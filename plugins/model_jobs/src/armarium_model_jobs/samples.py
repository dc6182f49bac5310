"""The pages that the examples of these jobs use."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from armarium.api import Example, new_id

WORDS = ("Deer Sir", "your letter of the third", "has come to hand")
"""The lines as a machine read them, in order."""


def page_with_pass(ex: Example) -> tuple[str, str]:
    """The ids of a page and of a pass of it."""
    page_id = str(ex.run("document.create", {"name": "Letter", "doc_type": "page"})["id"])
    made = ex.run("segment.pass_create", {"document_id": page_id, "name": "Lines"})
    return page_id, str(made["id"])


def with_provider(ex: Example, example: Callable[[Example], dict[str, Any]]) -> dict[str, Any]:
    """Wrap the setup of *example* so that its settings name a provider on this machine."""
    ground = example(ex)
    stated = {"name": f"Server {new_id()}", "provider_type": "local-server"}
    provider = ex.run("provider.create", stated)["id"]
    model = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
    ex.run("provider.set_models", {"provider_id": provider, "models": [model]})
    return {**ground, "settings": {"provider": provider, **ground.get("settings", {})}}


def read_page(ex: Example) -> dict[str, Any]:
    """Create a page of three lines that a machine read."""
    page_id, pass_id = page_with_pass(ex)
    of_page = {"document_id": page_id, "pass_id": pass_id}
    anchors = [{"rect": [0.1, 0.1 + 0.1 * number, 0.8, 0.05]} for number in range(len(WORDS))]
    shapes = [{**of_page, "kind": "line", "anchor": anchor} for anchor in anchors]
    made = ex.run("segment.create_many", {"segments": shapes})["items"]
    readings = [{"segment_id": one["id"], "text": text} for one, text in zip(made, WORDS, strict=True)]
    ex.run("reading.take", {**of_page, "provider": "sample-reader", "model": "sample", "readings": readings})
    return {"page_id": page_id}


SIGN_CORNERS = ((60, 60), (240, 180))
"""The corners of the signs of the sample, in pixels of its 400 by 300 picture."""


def signed_page(ex: Example) -> dict[str, Any]:
    """Create a page with a picture and two signs, each a dark square."""
    from PIL import Image

    assert ex.library is not None
    image = Image.new("L", (400, 300), 225)
    for left, top in SIGN_CORNERS:
        image.paste(20, (left, top, left + 40, top + 40))
    file = io.BytesIO()
    image.save(file, "PNG")
    picture = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": image.width,
        "pixel_height": image.height,
    }
    folder_id = ex.run("document.create", {"name": "Box"})["id"]
    node = {"id": new_id(), "parent_id": folder_id, "doc_type": "file", "file_type": "image", "name": "1.png"}
    ex.run("document.add_files", {"nodes": [{**node, "picture": picture}]})
    pass_id = ex.run("segment.pass_create", {"document_id": node["id"], "name": "Signs"})["id"]
    sign = {"document_id": node["id"], "pass_id": pass_id, "kind": "word", "kind_raw": "sign"}
    rects = [[left / 400, top / 300, 40 / 400, 40 / 300] for left, top in SIGN_CORNERS]
    ex.run("segment.create_many", {"segments": [{**sign, "anchor": {"rect": rect}} for rect in rects]})
    return {"page_id": node["id"]}
