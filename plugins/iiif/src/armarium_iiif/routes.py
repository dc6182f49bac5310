"""IIIF over HTTP: lines, canvases and manifests (Presentation 3), the Image API 3 at level 2, manifests from files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import File, Form, Path, Query, Request, Response, UploadFile
from starlette.responses import RedirectResponse

from armarium.api import (
    REFUSALS,
    AskedAsOf,
    CurrentEngine,
    Library,
    Router,
    act,
    is_unchanged,
    json_response,
    reading_past,
    written,
)
from armarium_iiif import image_service
from armarium_iiif.errors import ManifestTooLarge
from armarium_iiif.manifest_reader import MAX_BYTES
from armarium_iiif.places import IMAGE, LEVEL, PRESENTATION, Places
from armarium_iiif.projects import IiifLibrary
from armarium_iiif.queries import content_search, lines, presentation
from armarium_iiif.schemas import (
    IiifCanvas,
    IiifManifest,
    ImageService,
    LinesPage,
    ManifestImported,
    SearchList,
    SearchPage,
    TermList,
    TermPage,
)

router = Router(tags=["iiif"])

_LD = {
    "content": {"application/ld+json": {}},
    "description": "As JSON, or as JSON-LD if requested",
}
_READ: dict[int | str, dict[str, Any]] = {200: _LD, **REFUSALS(404, 409)}
_Part = Annotated[str, Path(max_length=200)]


def _places(request: Request, as_of: str | None = None) -> Places:
    return Places(str(request.base_url).rstrip("/"), as_of)


def _read(
    request: Request,
    library: Library,
    as_of: str | None,
    read: Callable[[Library, Places, str], Any],
    node: str,
) -> Response:
    """Answer what *read* says of a node, now or as of a step, which the addresses in the answer then name too."""
    if as_of is None:
        return _answer_linked(request, read(library, _places(request), node), PRESENTATION)
    with reading_past(library, as_of, None if read is presentation.manifest else [node]) as moment:
        return _answer_linked(request, read(library, _places(request, moment.audit_id), node), PRESENTATION)


def _answer_linked(
    request: Request, value: Any, profile: str, headers: dict[str, str] | None = None
) -> Response:
    """Return JSON, labelled JSON-LD only for a client that asks for it."""
    answer = json_response(value, headers={"Vary": "Accept", **(headers or {})})
    if "application/ld+json" in request.headers.get("accept", ""):
        answer.headers["Content-Type"] = f'application/ld+json;profile="{profile}"'
    return answer


@router.get(
    "/api/iiif/iiif/lines/{document_id}",
    summary="The page's lines as a W3C AnnotationPage on its canvas",
    response_model=LinesPage,
    responses=_READ,
)
def read_lines(
    request: Request,
    library: IiifLibrary,
    document_id: str,
    as_of: AskedAsOf = None,
    granularity: Annotated[
        Literal["line", "word"], Query(description="word: each word by itself, where somebody placed it")
    ] = "line",
    q: Annotated[
        str, Query(max_length=500, description="Only lines with all these words, and of them the words hit")
    ] = "",
) -> Response:
    page = partial(lines.lines_page, by_word=granularity == "word", sought=q.strip())
    return _read(request, library, as_of, page, document_id)


@router.get(
    "/api/iiif/canvas/{document_id}",
    summary="The page as a IIIF canvas",
    response_model=IiifCanvas,
    responses=_READ,
)
def read_canvas(
    request: Request, library: IiifLibrary, document_id: str, as_of: AskedAsOf = None
) -> Response:
    return _read(request, library, as_of, presentation.canvas, document_id)


@router.get(
    "/api/iiif/manifest/{document_id}",
    summary="A page, or all pages of a folder, as a IIIF Presentation 3 manifest",
    response_model=IiifManifest,
    responses=_READ,
)
def read_manifest(
    request: Request, library: IiifLibrary, document_id: str, as_of: AskedAsOf = None
) -> Response:
    return _read(request, library, as_of, presentation.manifest, document_id)


_Version = Annotated[Literal["2", "1"], Path(description="Of the Content Search API")]
_Asked = Annotated[str, Query(min_length=1, max_length=10_000, description="What is searched for")]
_Unused = Annotated[str | None, Query(max_length=2_000, description="Not used, and named in `ignored`")]


def _ask(document_id: str, words: str, **unused: str | None) -> content_search.ContentQuery:
    ignored = tuple(name for name, value in unused.items() if value is not None)
    return content_search.ContentQuery(document_id, words, ignored)


def _answer_found(request: Request, answer: Any) -> Response:
    return _answer_linked(request, answer, "http://iiif.io/api/search/2/context.json")


@router.get(
    "/api/iiif/search/{version}/{document_id}",
    summary="The lines of a page or folder with the words searched for (IIIF Content Search)",
    response_model=SearchPage | SearchList,
    responses={200: _LD, **REFUSALS(404, 409, 413)},
)
def search_content(
    request: Request,
    engine: CurrentEngine,
    library: IiifLibrary,
    version: _Version,
    document_id: str,
    q: _Asked,
    after: Annotated[
        str | None, Query(max_length=64, description="The page after which the answer begins")
    ] = None,
    motivation: _Unused = None,
    date: _Unused = None,
    user: _Unused = None,
) -> Response:
    query = _ask(document_id, q, motivation=motivation, date=date, user=user)
    places = _places(request)._replace(search_version=version)
    answer = content_search.search(engine, library, places, query, after)
    return _answer_found(request, answer if version == "2" else content_search.search_as_1(answer))


@router.get(
    "/api/iiif/autocomplete/{version}/{document_id}",
    summary="The words on a page or folder that begin with the letters given (IIIF Content Search)",
    response_model=TermPage | TermList,
    responses={200: _LD, **REFUSALS(404, 409, 413)},
)
def autocomplete_content(
    request: Request,
    engine: CurrentEngine,
    library: IiifLibrary,
    version: _Version,
    document_id: str,
    q: _Asked,
    least: Annotated[
        int, Query(alias="min", ge=1, le=10**9, description="Only terms that occur so often")
    ] = 1,
    motivation: _Unused = None,
    date: _Unused = None,
    user: _Unused = None,
) -> Response:
    query = _ask(document_id, q, motivation=motivation, date=date, user=user)
    places = _places(request)._replace(search_version=version)
    answer = content_search.autocomplete(engine, library, places, query, least)
    return _answer_found(request, answer if version == "2" else content_search.terms_as_1(answer))


@router.get(
    "/api/iiif/image/{image_id}",
    summary="Redirect to an image service's information document",
    response_class=RedirectResponse,
    status_code=303,
    responses={303: {"description": "See info.json"}, **REFUSALS(404, 409)},
)
def image_base(request: Request, engine: CurrentEngine, library: IiifLibrary, image_id: str) -> Response:
    image_service.picture(engine, library, image_id)
    return RedirectResponse(f"{_places(request).image(image_id)}/info.json", status_code=303)


@router.get(
    "/api/iiif/image/{image_id}/info.json",
    summary="The information document of an image (Image API 3, level 2)",
    response_model=ImageService,
    responses=_READ,
)
def image_information(
    request: Request, engine: CurrentEngine, library: IiifLibrary, image_id: str
) -> Response:
    picture = image_service.picture(engine, library, image_id)
    link = f'<{LEVEL}>;rel="profile"'
    return _answer_linked(
        request, image_service.information(_places(request), picture), IMAGE, {"Link": link}
    )


@router.get(
    "/api/iiif/image/{image_id}/{region}/{size}/{rotation}/{quality}.{file_format}",
    summary="A piece of a picture: region, size, rotation, quality and format by the Image API 3",
    response_class=Response,
    responses={
        200: {
            "content": {"image/jpeg": {}, "image/png": {}, "image/webp": {}},
            "description": "The piece, encoded",
        },
        304: {"description": "Unchanged since the ETag sent"},
        **REFUSALS(400, 404, 409),
    },
)
def image_piece(
    request: Request,
    engine: CurrentEngine,
    library: IiifLibrary,
    image_id: str,
    region: _Part,
    size: _Part,
    rotation: _Part,
    quality: _Part,
    file_format: _Part,
) -> Response:
    picture = image_service.picture(engine, library, image_id)
    piece, etag = image_service.piece(picture, region, size, rotation, quality, file_format)
    canonical = f"{_places(request).image(image_id)}/{piece.canonical}"
    headers = {
        "ETag": etag,
        "Cache-Control": "private, max-age=31536000, immutable" if picture.lasting else "private, no-cache",
        "Link": f'<{canonical}>;rel="canonical",<{LEVEL}>;rel="profile"',
    }
    if is_unchanged(request, etag):
        return Response(status_code=304, headers=headers)
    data = image_service.piece_bytes(engine, library, picture, piece)
    return Response(data, media_type=piece.mime_type, headers=headers)


@router.post(
    "/api/iiif/manifests",
    summary="Import a IIIF manifest by reference: a folder with a page for each canvas; nothing is fetched",
    response_model=written(ManifestImported),
    responses=REFUSALS(404, 409),
)
def import_manifest(
    request: Request,
    file: Annotated[UploadFile, File(description="The manifest, Presentation 2 or 3")],
    parent_id: Annotated[str | None, Form(max_length=100)] = None,
    name: Annotated[str | None, Form(min_length=1, max_length=500)] = None,
) -> Response:
    filename = (file.filename or "manifest.json")[:500]
    data = file.file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ManifestTooLarge(filename, MAX_BYTES)
    return act(
        request,
        "iiif.import",
        {"file": data, "filename": filename, "parent_id": parent_id or None, "name": name or None},
    )
