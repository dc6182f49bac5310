"""Opens one bomb as the engine does, in a process of its own, and reports how it was refused, in how much time and
memory.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

LAYOUTS: dict[str, Any] = {}


def peak() -> int:
    """Return the peak memory of this process, in KiB."""
    try:
        # A new process inherits its parent's peak in ru_maxrss, but not in the kernel's own figure.
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except OSError:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used // 1024 if sys.platform == "darwin" else used


def layouts() -> dict[str, Any]:
    """Return the formats of layout files that contain points, by name."""
    from armarium_formats.abbyy.driver import Abbyy
    from armarium_formats.alto.driver import Alto
    from armarium_formats.hocr.driver import Hocr
    from armarium_formats.labels.yolo import Yolo
    from armarium_formats.pagexml.driver import PageXml
    from armarium_formats.tei.driver import Tei

    return {one.name: one for one in (Abbyy, Alto, Hocr, Yolo, PageXml, Tei)}


def open_as(kind: str, path: Path) -> Any:
    """Do what the engine does with a file of this kind."""
    from armarium.store.objects import ObjectStore

    if kind == "picture":
        from armarium.runtimes.workers import Compute, WorkerPool
        from armarium_documents.pictures import open_source_pages, take_in

        folder = path.with_suffix(".store")
        folder.mkdir(exist_ok=True)
        library: Any = SimpleNamespace(
            is_closed=None, objects=ObjectStore(folder / "objects"), derived_folder=folder / "derived"
        )
        source = take_in(library, path, max_pixels=200_000_000)
        if source.pages:
            with open_source_pages(library, source, max_pixels=200_000_000) as pages:
                # What a page of a PDF contains is drawn by a process of its own, as the engine has it drawn.
                workers = WorkerPool(library, Compute)
                try:
                    for index in range(source.pages):
                        pages.picture(library, index, workers.call_light)
                finally:
                    workers.close()
        return source
    if kind == "xml":
        from armarium.guard import parse_xml

        return parse_xml(path.read_bytes(), name=path.name)
    if kind == "html":
        from armarium.guard import parse_html

        return parse_html(path.read_bytes().decode("utf-8", "replace"), name=path.name)
    if kind == "zip":
        from armarium.guard import check_archive

        return check_archive(path)
    from armarium_formats.api import ReadContext

    return LAYOUTS[kind]().read(path.read_bytes(), ReadContext(path.name, page_size=(1000, 1000)))


def main() -> None:
    from armarium.errors import ServiceError

    kind, path = sys.argv[1], Path(sys.argv[2])
    # What is loaded once for all files does not count.
    import lxml.etree
    import PIL.Image
    import pypdfium2

    import armarium.guard
    import armarium_documents.pictures

    LAYOUTS.update(layouts())
    assert all((lxml.etree, PIL.Image, pypdfium2, armarium.guard, armarium_documents.pictures))
    start = time.process_time()
    said = None
    try:
        open_as(kind, path)
    except ServiceError as refusal:
        said = refusal.detail
    print(json.dumps({"said": said, "seconds": time.process_time() - start, "mb": peak() / 1024}))


if __name__ == "__main__":
    main()
