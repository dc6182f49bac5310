"""Samples for the examples of the actions: a folder with an imported picture, and its files."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from armarium.api import Example, new_id

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>example</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="0001.png" imageWidth="80" imageHeight="60">
    <TextRegion id="r1"><Coords points="5,5 75,5 75,55 5,55"/>
      <TextLine id="l1"><Coords points="6,6 70,6 70,20 6,20"/><TextEquiv><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


def picture(shade: int = 200) -> bytes:
    """Return a PNG of 80 by 60 pixels."""
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("L", (80, 60), shade).save(file, "PNG")
    return file.getvalue()


def node_of(ex: Example, path: Any, parent_id: str, data: bytes) -> dict[str, Any]:
    """Create a document whose own file is at *path*, as an import does."""
    assert ex.library is not None
    checksum = ex.library.objects.put_bytes(data)
    about = {"checksum": checksum, "mime_type": "image/png", "size_bytes": len(data)}
    return {
        "id": new_id(),
        "parent_id": parent_id,
        "doc_type": "file",
        "file_type": "image",
        "name": os.path.basename(path),
        "path": str(path),
        "metadata": {"checksum": hashlib.sha256(data).hexdigest(), "full_path": str(path)},
        "picture": {**about, "pixel_width": 80, "pixel_height": 60},
    }


def imported_folder(ex: Example) -> str:
    """Create a folder with one picture and its layout file, both imported; return its path."""
    data = picture()
    path = ex.file("scans/0001.png", data)
    ex.file("scans/0001.xml", PAGE.encode())
    folder = ex.run("document.create", {"name": "scans"})
    node = node_of(ex, path, folder["id"], data)
    ex.run("document.add_files", {"nodes": [node]})
    ex.run("format.import", {"document_id": node["id"], "file": PAGE.encode(), "filename": "0001.xml"})
    return str(path.parent)


def imported_twice(ex: Example) -> str:
    """Create two documents with the same file; return the one that would be removed."""
    data = picture()
    path = ex.file("scans/0001.png", data)
    folder = ex.run("document.create", {"name": "scans"})
    nodes = [node_of(ex, path, folder["id"], data) for _ in range(2)]
    for node in nodes:
        ex.run("document.add_files", {"nodes": [node]})
    return str(nodes[1]["id"])
