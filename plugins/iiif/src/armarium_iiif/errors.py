"""The refusals of IIIF."""

from __future__ import annotations

from armarium.api import BadRequest, Conflict, Invalid, NotFound, TooLarge, missing

MAX_CANVASES = 25_000
"""Canvases of one manifest, given out or taken in."""

unknown_picture = missing("picture", "Name a page that has one, or one of its renditions.")
no_canvas = NotFound.saying("no_canvas", "{name} ({document_id}) is not a canvas: {why}")
no_pages = NotFound.saying(
    "no_pages",
    "There is no page with a picture in {name}, so there is nothing to show in a manifest. "
    "Import its pictures first.",
)
no_frame = Invalid.saying(
    "no_page_size",
    "{name} has lines but neither a picture nor a known size, so their pixel coordinates are unknown. "
    "Give the document its picture first.",
)
in_several_projects = Conflict.saying(
    "library_required",
    "Several open projects have {identifier} (one is a copy of the other). Name the project with the header "
    "X-Service-Library-Path or with ?library=.",
)
already_imported = Conflict.saying(
    "already_imported",
    "This manifest has already been imported here as {name!r} ({document_id}). Delete that folder to import it again, "
    "or import it into another one.",
    document_id="document_id",
)
not_a_canvas = Invalid.saying("not_a_canvas", "{name} is not a canvas of an imported manifest.")


class BadImageRequest(BadRequest):
    """A region, size, rotation, quality or format that the Image API does not define, or that fits no picture."""

    def __init__(self, part: str, asked: str, expected: str) -> None:
        excerpt = asked if len(asked) <= 80 else asked[:80] + "…"
        super().__init__(f"The {part} {excerpt!r} {expected}", code=f"bad_{part}")


class TooManyCanvases(TooLarge):
    """More pages than one manifest may list."""

    def __init__(self, name: str, count: int) -> None:
        super().__init__(
            f"{name} contains {count} pages; a manifest lists at most {MAX_CANVASES}. "
            "Request the folders in it one by one.",
            code="too_many_canvases",
            count=count,
        )


class UnknownHere(NotFound):
    """No project was named, and no open one has the id."""

    def __init__(self, identifier: str) -> None:
        super().__init__(
            f"No open project has {identifier}. Name the project with the header X-Service-Library-Path or with "
            "?library=, which also opens it.",
            code="not_found",
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


class NothingToFetch(Invalid):
    """No referenced canvas below these nodes lacks its picture."""

    def __init__(self) -> None:
        super().__init__(
            "None of the pages named is a canvas of an imported manifest that still lacks its picture.",
            code="nothing_to_fetch",
        )
