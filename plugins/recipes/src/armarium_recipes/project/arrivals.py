"""The pages an import adds after Start: noted in the step that adds them, so that a run of the recipe follows."""

from __future__ import annotations

from sqlalchemy import Connection, select

from armarium.api import ActionContext, find_job, is_among, list_jobs, new_id
from armarium_documents.api import documents, pages_under
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.models import arrivals, starts
from armarium_recipes.project import run_rows
from armarium_recipes.project.saving import SavedSetup, read_saved

BROUGHT_BY = "document.add_files"
"""The action through which every import writes its pages."""
IMPORTS = (BROUGHT_BY, "ingest.batch", "ingest.files")
"""The steps that are imports; other steps, such as splitting a picture, use the same action."""
PICTURES_OF = "iiif.attach_image"
"""The step that attaches the picture of a page imported without one."""

TITLE = "Run the recipe over what was imported"


def runs_by_itself(setup: SavedSetup) -> bool:
    """Return whether the purposes of the project have imports worked on automatically."""
    if setup.answers is None or setup.recipe is None:
        return False
    return any(PURPOSES[purpose].runs_by_itself for purpose in setup.answers.purposes if purpose in PURPOSES)


def step_ends(ctx: ActionContext) -> None:
    """After a step that added pages to a project whose recipe was started, enqueue the run over them."""
    is_import = ctx.action_name in IMPORTS and BROUGHT_BY in ctx.ran
    if ctx.library is None or not (is_import or ctx.action_name == PICTURES_OF):
        return
    pages = _pages(ctx)
    is_started = select(starts.c.id).limit(1)
    if not pages or ctx.conn.execute(is_started).first() is None or not runs_by_itself(read_saved(ctx.conn)):
        return
    import_id = ctx.set_id
    job_id = _waiting_run(ctx.conn, import_id)
    if job_id is None:
        job_id = new_id()
        run_rows.insert_run(
            ctx.conn,
            job_id,
            started_by="import",
            settings={"import_id": import_id, "redo": [], "overrides": []},
        )
        ctx.enqueue(run_rows.KIND, {"run": "import"}, title=TITLE, total=0, thread_id=job_id)
    ctx.conn.execute(arrivals.insert(), [{"run_job_id": job_id, "page_id": page} for page in pages])


def _pages(ctx: ActionContext) -> list[str]:
    """Return the nodes added by the step that are pages, or pictures that count as pages."""
    added = [document_id for document_id in ctx.changes.get("document_ids", ()) if document_id]
    query = select(documents.c.id).where(is_among(documents.c.id, added))
    if ctx.action_name not in (BROUGHT_BY, PICTURES_OF):
        # Existing pages that got a layout file have changed too, but the import did not add them.
        query = query.where(documents.c.created_at == ctx.now)
    # An undo of the import is a step of the same name, after which they are gone.
    known_ids = set(ctx.conn.execute(query).scalars())
    added = [document_id for document_id in added if document_id in known_ids]
    return pages_under(ctx.conn, added, for_processing=True) if added else []


def _waiting_run(conn: Connection, import_id: str | None) -> str | None:
    """Return the run over the pages of *import_id*, if it has not begun yet."""
    if import_id is None:
        return None
    for job in list_jobs(conn, "checkpoint", kinds=run_rows.KIND, states=("waiting",)):
        run = run_rows.find_run(conn, job.id) if not job.checkpoint else None
        if (
            run is not None
            and run["started_by"] == "import"
            and run["settings"].get("import_id") == import_id
        ):
            return job.id
    return None


def import_goes_on(conn: Connection, import_id: str) -> bool:
    """Return whether the job of an import has not ended."""
    job = find_job(conn, import_id)
    return job is not None and job.is_going


def pages_of_import(conn: Connection, job_id: str) -> list[str]:
    """Return the pages that a run works on, in the order in which they were added."""
    rows = conn.execute(
        select(arrivals.c.page_id).where(arrivals.c.run_job_id == job_id).order_by(arrivals.c.number)
    )
    return list(dict.fromkeys(rows.scalars()))
