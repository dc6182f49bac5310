"""Links the entities of pages to an authority file that a person has, or to what a reconciliation service proposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import Connection, select

from armarium.api import (
    Egress,
    Engine,
    JobContext,
    Library,
    PageSkipped,
    PageWithheld,
    PageWork,
    Placement,
    find_withheld,
)
from armarium_knowledge import errors
from armarium_knowledge.authority_files import read_known
from armarium_knowledge.reconciliation_services import Proposal, ask_service, check_service
from armarium_knowledge.records.entities import NOT_MERGED, entities
from armarium_knowledge.records.mentions import mentions


def placed_file(engine: Engine, library: Library, settings: Any) -> Placement:
    """Run on this machine, or ask a service; refused if neither is named, and without consent to names leaving."""
    if settings.service is not None:
        check_service(gate(engine), settings.service, names_may_leave=settings.names_may_leave)
        return Placement(lane="network")
    if settings.file is None:
        raise errors.authority_file_needed()
    return Placement()


def gate(engine: Engine) -> Egress:
    """Return the engine's only way to the network."""
    return Egress(local_only=engine.settings.local_only)


def _ask_for(job: JobContext, page_id: str, rows: Sequence[Any]) -> dict[str, Proposal]:
    """Return what the service proposes for the names of entities; PageWithheld for a page of which nothing may leave."""
    egress, address = gate(job.engine), job.args.service
    check_service(egress, address, names_may_leave=job.args.names_may_leave)
    use: Literal["local-model", "cloud-model"] = (
        "local-model" if egress.leads_here(address) else "cloud-model"
    )
    why = find_withheld(job.library, job.principal, [page_id], use).get(page_id)
    if why is not None:
        raise PageWithheld(why)
    return ask_service(job, egress, address, list(dict.fromkeys(row.canonical_name for row in rows)))


def link(job: JobContext, page_id: str) -> PageWork:
    """Link the entities named on a page for which exactly one entry of the file has the name."""
    with job.library.db.read() as conn:
        entity = entities.c
        named_ids = select(mentions.c.entity_id).where(mentions.c.document_id == page_id)
        listed = select(entity.id, entity.canonical_name, entity.folded_names, entity.authority_links).where(
            entity.id.in_(named_ids), entity.curation_state.in_(("unreviewed", "verified"))
        )
        rows = conn.execute(listed.order_by(entity.id)).all()
        names = _all_names(conn)
    if not rows:
        raise PageSkipped("No entities are named on the page; find its names first.")
    file = None if job.args.service else read_known(job.library, job.args.file.real, names)
    for note in file.notes if file is not None else ():
        job.log("info", note)
    proposed = _ask_for(job, page_id, rows) if file is None else {}
    links = []
    for row in rows:
        linked = {authority_link["uri"] for authority_link in row.authority_links}
        for name in row.folded_names.split("\n") if file is not None else [row.canonical_name]:
            match = proposed.get(name) if file is None else file.find_named(name)
            if match is not None and match[0].uri not in linked:
                entry, certainty = match
                linked.add(entry.uri)
                fields = {"authority": entry.authority, "authority_id": entry.authority_id, "uri": entry.uri}
                links.append({"entity_id": row.id, "link": {**fields, "certainty": certainty}})
    if not links:
        raise PageSkipped(
            "The authority file or service has no entry with the name of an entity on the page, or all of them are "
            "already linked."
        )
    return PageWork(
        "entity.take_links",
        {"document_id": page_id, "links": links},
        output={"authority_links": len(links)},
        answers=("entity_ids",),
    )


def _all_names(conn: Connection) -> set[str]:
    """Return the folded names of the project: only these of the file are kept."""
    rows = conn.execute(select(entities.c.folded_names).where(NOT_MERGED))
    return {name for row in rows for name in row.folded_names.split("\n")}
