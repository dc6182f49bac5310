"""Routes of reading: starting its jobs, the readers and models on this machine."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request, Response

from armarium.api import (
    REFUSALS,
    CurrentEngine,
    CurrentLibrary,
    CurrentPrincipal,
    Router,
    act,
    json_response,
    written,
)
from armarium_reading import local_models
from armarium_reading.evidence import evidence_of
from armarium_reading.readers import GROUP, readers, runtime_folder
from armarium_reading.schemas.reading import (
    DeleteResult,
    DownloadResult,
    Evidence,
    EvidenceOfText,
    LocalModels,
    OfferedModels,
    Readers,
)
from armarium_reading.taken_models import list_offers

router = Router(tags=["reading"])

Runtime = Annotated[str, Path(max_length=80, description="linereader, tesseract, …")]
Model = Annotated[str, Path(max_length=300, description="Name of a model, or the id it is published under.")]


@router.get(
    "/api/reading/readers", summary="The installed readers.", response_model=Readers, responses=REFUSALS()
)
def get_readers(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Return what each reader can do, and whether its runtime is installed."""
    items = [
        {
            "name": reader.name,
            "label": reader.label,
            "can": sorted(reader.can),
            "languages": list(reader.languages),
            "scripts": list(reader.scripts),
            "writing": sorted(reader.writing),
            "runtime": reader.runtime.name if reader.runtime else None,
            "installed": (reader.runtime is None or runtime_folder(engine, reader) is not None)
            and reader.why_not(None) is None,
            "model_kind": reader.model_kind,
            "model_suffixes": list(reader.model_suffixes),
            "reading_needs_model": reader.reading_needs_model,
        }
        for reader in readers(engine)
    ]
    return json_response({"items": items, "count": len(items), "refused": engine.drivers.list_refused(GROUP)})


@router.get(
    "/api/segments/{segment_id}/evidence",
    summary="Where the letters and words of a line stand, and how probable they are.",
    response_model=Evidence,
    responses=REFUSALS(403, 404, 409),
)
def get_evidence(
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    segment_id: Annotated[str, Path(max_length=200)],
    representation_id: Annotated[
        str | None, Query(max_length=200, description="A reading of it; default: the one that counts")
    ] = None,
    afresh: Annotated[bool, Query(description="Align again, whatever was stored")] = False,
) -> Response:
    """Return what its reader said when it read the line; else work it out by alignment with the hand reader, in a worker."""
    return json_response(
        evidence_of(
            engine, library, principal, segment_id, representation_id=representation_id, afresh=afresh
        )
    )


@router.post(
    "/api/segments/{segment_id}/evidence",
    summary="Where the letters of a given text would stand on a line; nothing is stored.",
    response_model=Evidence,
    responses=REFUSALS(403, 404, 409),
)
def align_text(
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    segment_id: Annotated[str, Path(max_length=200)],
    body: EvidenceOfText,
) -> Response:
    """Align the text with the hand reader's output for the line."""
    return json_response(evidence_of(engine, library, principal, segment_id, text=body.text))


@router.get(
    "/api/local-models",
    summary="The models and runtimes on this machine.",
    response_model=LocalModels,
    responses=REFUSALS(),
)
def get_local_models(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Return what is installed and the disk space it uses."""
    return json_response(local_models.list_models(engine))


@router.get(
    "/api/local-models/offers",
    summary="The published models that can be downloaded by name.",
    response_model=OfferedModels,
    responses=REFUSALS(),
)
def get_offered_models(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Return size, licence, authors and what each reads. Makes no request."""
    return json_response(list_offers(engine))


@router.post(
    "/api/local-models/download/{runtime}/{model:path}",
    summary="Download a model to this machine.",
    response_model=written(DownloadResult),
    responses=REFUSALS(404, 409),
)
def download_model(request: Request, runtime: Runtime, model: Model) -> Response:
    """Enqueue the download; unknown runtime 400, unknown model 404, no runner here 409, offline 409."""
    return act(request, "model.download", {"runtime": runtime, "model": model})


@router.delete(
    "/api/local-models/{runtime}/{model:path}",
    summary="Remove a model from this machine.",
    response_model=written(DeleteResult),
    responses=REFUSALS(404, 409),
)
def delete_model(request: Request, runtime: Runtime, model: Model) -> Response:
    """Remove the file; 409 while it is in use or if it is part of a package."""
    return act(request, "model.delete", {"runtime": runtime, "model": model})
