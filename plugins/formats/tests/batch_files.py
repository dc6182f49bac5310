"""Helpers for the tests of batches: pictures, layout files that name them, requests, and queries."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="{image}" imageWidth="{width}" imageHeight="{height}">
    <TextRegion id="r1"><Coords points="1,1 {right},1 {right},{bottom} 1,{bottom}"/>
      <TextLine id="l1"><Coords points="2,2 {right},2 {right},20 2,20"/>
        <TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


def picture(width: int = 120, height: int = 90, grey: int = 200, form: str = "PNG") -> bytes:
    """Return an encoded picture of one shade of grey."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("L", (width, height), grey).save(file, form)
    return file.getvalue()


def page(image: str = "", width: int = 120, height: int = 90, text: str = "Dear Sir") -> bytes:
    """Return a PAGE file with one line that names *image* as its picture."""
    return PAGE.format(
        image=image, width=width, height=height, right=width - 2, bottom=height - 2, text=text
    ).encode()


def send(engine: Engine, library: Library, files: dict[str, bytes], **more: Any) -> dict[str, Any]:
    """Send files in one batch; return the answer with its audit id."""
    params = {"files": [{"filename": name, "file": data} for name, data in files.items()], **more}
    outcome = engine.run(library, "ingest.batch", params, LOCAL_OWNER)
    return {**(outcome.result or {}), "audit_id": outcome.audit_id}


def take(engine: Engine, library: Library, paths: list[Path], **more: Any) -> dict[str, Any]:
    """Ingest files of this machine by path; return the answer with its audit id."""
    params = {"paths": [str(path) for path in paths], **more}
    outcome = engine.run(library, "ingest.files", params, LOCAL_OWNER)
    return {**(outcome.result or {}), "audit_id": outcome.audit_id}


def list_pairs(answer: dict[str, Any]) -> dict[str, str]:
    """Return for each layout file the name of the document it was paired with."""
    names = {document["id"]: document["name"] for document in answer["documents"]}
    return {
        page_pass["file"]: names.get(page_pass["document_id"], page_pass["document_id"])
        for page_pass in answer["passes"]
    }


def reasons(answer: dict[str, Any], kind: str = "unpaired") -> dict[str, str]:
    """Return for each file of a kind why it was not imported."""
    return {one["file"]: one["why"] for one in answer[kind]}


def rows(library: Library, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return rows of the project's database."""
    with library.db.read() as conn:
        return [tuple(row) for row in conn.exec_driver_sql(query, values)]


def write_files(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """Write files to disk; return their paths."""
    paths = []
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        paths.append(path)
    return paths
