"""Links the entities of pages to an authority file that a person has; nothing is fetched."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Engine, JobContext, Library, PageSkipped, PageWork, Placement
from armarium_knowledge import errors
from armarium_knowledge.authority_files import read_known
from armarium_knowledge.records.entities import NOT_MERGED, entities
from armarium_knowledge.records.mentions import mentions


def placed_file(engine: Engine, library: Library, settings: Any) -> Placement:
    """Run on this machine; refused if no file is named."""
    if settings.file is None:
        raise errors.authority_file_needed()
    return Placement()


def link(job: JobContext, page_id: str) -> PageWork:
    """Link the entities named on a page for which exactly one entry of the file has the name."""
    with job.library.db.read() as conn:
        e = entities.c
        there = select(mentions.c.entity_id).where(mentions.c.document_id == page_id)
        listed = select(e.id, e.folded_names, e.authority_links).where(
            e.id.in_(there), e.curation_state.in_(("unreviewed", "verified"))
        )
        rows = conn.execute(listed.order_by(e.id)).all()
        wanted = _all_names(conn)
    if not rows:
        raise PageSkipped("No entities are named on the page; find its names first.")
    file = read_known(job.library, job.args.file.real, wanted)
    for note in file.notes:
        job.log("info", note)
    links = []
    for row in rows:
        linked = {one["uri"] for one in row.authority_links}
        for name in row.folded_names.split("\n"):
            found = file.find_named(name)
            if found is not None and found[0].uri not in linked:
                entry, certainty = found
                linked.add(entry.uri)
                told = {"authority": entry.authority, "authority_id": entry.authority_id, "uri": entry.uri}
                links.append({"entity_id": row.id, "link": {**told, "certainty": certainty}})
    if not links:
        raise PageSkipped(
            "The authority file has no entry with the name of an entity on the page, or all of them are "
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
