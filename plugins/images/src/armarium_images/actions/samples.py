"""The small picture and the folder that the examples of the actions work on."""

from __future__ import annotations

import io

from armarium.api import Example, new_id


def sample_folder(ex: Example, pictures: int = 1) -> tuple[str, list[str]]:
    """Create a folder with *pictures* pictures of 60 by 40 pixels; return its id and theirs."""
    from PIL import Image

    image = Image.new("L", (60, 40), 200)
    image.paste(30, (0, 0, 30, 40))
    file = io.BytesIO()
    image.save(file, "PNG")
    assert ex.library is not None
    picture = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": 60,
        "pixel_height": 40,
    }
    folder = str(ex.run("document.create", {"name": "Openings"})["id"])
    nodes = [
        {
            "id": new_id(),
            "parent_id": folder,
            "doc_type": "file",
            "file_type": "image",
            "name": f"{number}.png",
            "picture": picture,
        }
        for number in range(1, pictures + 1)
    ]
    ids = ex.run("document.add_files", {"nodes": nodes})["ids"]
    return folder, ids
