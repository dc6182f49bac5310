"""Sample data for the examples of actions, of this family and of those that use it: a page with a picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from armarium.api import Example, new_id

if TYPE_CHECKING:
    from PIL.Image import Image


def sample_picture(ex: Example, image: Image, name: str = "1.png") -> str:
    """Create a page with *image* in a folder of its own; return its id."""
    assert ex.library is not None
    file = io.BytesIO()
    image.save(file, "PNG")
    picture = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": image.width,
        "pixel_height": image.height,
    }
    folder = ex.run("document.create", {"name": "Box"})["id"]
    node = {"id": new_id(), "parent_id": folder, "doc_type": "file", "file_type": "image", "name": name}
    ex.run("document.add_files", {"nodes": [{**node, "picture": picture}]})
    return str(node["id"])
