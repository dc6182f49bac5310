"""Finds the project of an IIIF address: the one the request names, else the one open project that has the id.

A viewer builds picture addresses itself and cannot always add a header or a query to them.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import select, union_all
from starlette.concurrency import run_in_threadpool

from armarium.api import CurrentEngine, CurrentPrincipal, Engine, Library, OptionalLibrary, Principal
from armarium_documents.api import documents, renditions
from armarium_iiif.errors import UnknownHere, in_several_projects


def project_with(engine: Engine, principal: Principal, identifier: str) -> Library:
    """Return the one open project accessible to the caller that has a document or rendition of this id.

    Raises UnknownHere, and in_several_projects if a package and its copy are both open.
    """
    libraries: list[Library] = []
    for library in engine.libraries.open_now():
        if principal.libraries is not None and str(library.path) not in principal.libraries:
            continue
        with library.db.read() as conn:
            lookups = (
                select(table.c.id).where(table.c.id == identifier) for table in (documents, renditions)
            )
            if conn.execute(union_all(*lookups)).first() is not None:
                libraries.append(library)
    if not libraries:
        raise UnknownHere(identifier)
    if len(libraries) > 1:
        raise in_several_projects(identifier)
    return libraries[0]


async def _library(
    request: Request, engine: CurrentEngine, principal: CurrentPrincipal, named: OptionalLibrary
) -> Library:
    if named is not None:
        return named
    identifier = str(request.path_params.get("document_id") or request.path_params["image_id"])
    return await run_in_threadpool(project_with, engine, principal, identifier)


IiifLibrary = Annotated[Library, Depends(_library)]
"""Dependency: the project of an IIIF address."""
