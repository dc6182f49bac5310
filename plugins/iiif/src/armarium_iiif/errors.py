"""The refusals of IIIF."""

from __future__ import annotations

from armarium.api import BadRequest, Conflict, Invalid, NotFound, TooLarge, missing

MAX_CANVASES = 25_000
"""Canvases of one manifest, given out or taken in."""

unknown_picture = missing("picture", "Name a page that has one, or one of its renditions.")


class BadImageRequest(BadRequest):
    """A region, size, rotation, quality or format that the Image API does not define, or that fits no picture."""

    def __init__(self, part: str, asked: str, expected: str) -> None:
        excerpt = asked if len(asked) <= 80 else asked[:80] + "…"
        super().__init__(f"The {part} {excerpt!r} {expected}", code=f"bad_{part}")


class NoCanvas(NotFound):
    """A node that cannot be shown as a canvas."""

    def __init__(self, document_id: str, name: str, why: str) -> None:
        super().__init__(f"{name} ({document_id}) is not a canvas: {why}", code="no_canvas")


class NoPages(NotFound):
    """A manifest without pages."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no page with a picture in {name}, so there is nothing to show in a manifest. "
            "Import its pictures first.",
            code="no_pages",
        )


class TooManyCanvases(TooLarge):
    """More pages than one manifest may list."""

    def __init__(self, name: str, count: int) -> None:
        super().__init__(
            f"{name} contains {count} pages; a manifest lists at most {MAX_CANVASES}. "
            "Request the folders in it one by one.",
            code="too_many_canvases",
            count=count,
        )


class NoFrame(Invalid):
    """Lines that cannot be expressed in pixels."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} has lines but neither a picture nor a known size, so their pixel coordinates are unknown. "
            "Give the document its picture first.",
            code="no_page_size",
        )


class UnknownHere(NotFound):
    """No project was named, and no open one has the id."""

    def __init__(self, identifier: str) -> None:
        super().__init__(
            f"No open project has {identifier}. Name the project with the header X-Service-Library-Path or with "
            "?library=, which also opens it.",
            code="not_found",
        )


class InSeveralProjects(Conflict):
    """No project was named, and several open ones have the id: copies of one package."""

    def __init__(self, identifier: str) -> None:
        super().__init__(
            f"Several open projects have {identifier} (one is a copy of the other). Name the project with the header "
            "X-Service-Library-Path or with ?library=.",
            code="library_required",
        )


class NotAManifest(Invalid):
    """Bytes that are not a IIIF manifest."""

    def __init__(self, name: str, why: str, **fields: object) -> None:
        super().__init__(
            f"{name} is not a IIIF manifest that can be imported: {why}", code="not_a_manifest", **fields
        )


class ManifestTooLarge(TooLarge):
    """A manifest larger than the limit."""

    def __init__(self, name: str, limit: int) -> None:
        super().__init__(
            f"{name} is longer than {limit >> 20} MiB, more than a manifest of {MAX_CANVASES} pages needs; "
            "ask its publisher for the manifests of its volumes.",
            code="file_too_large",
        )


class AlreadyImported(Conflict):
    """The same manifest exists in the same folder."""

    def __init__(self, name: str, document_id: str) -> None:
        super().__init__(
            f"This manifest has already been imported here as {name!r} ({document_id}). Delete that folder to import it again, "
            "or import it into another one.",
            code="already_imported",
            document_id=document_id,
        )


class NothingToFetch(Invalid):
    """No referenced canvas below these nodes lacks its picture."""

    def __init__(self) -> None:
        super().__init__(
            "None of the pages named is a canvas of an imported manifest that still lacks its picture.",
            code="nothing_to_fetch",
        )


class NotACanvasImage(Invalid):
    """A picture was to be attached to a page that is not a referenced canvas."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not a canvas of an imported manifest.", code="not_a_canvas")
