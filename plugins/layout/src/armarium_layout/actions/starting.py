"""Putting the jobs of layout into the queue: one action for each, all alike but for their settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pydantic import create_model

from armarium.api import Action, ActionContext, Example, Params, action, cancel_with_undo
from armarium_documents.api import pages_under
from armarium_layout.errors import no_pages
from armarium_layout.schemas import ScopeIds, StartedJob


def starting(
    job_id: str, settings: type[Params], title: str, words: str, sample: Callable[[Example], str]
) -> Action[Any]:
    """The action that puts the job *job_id* into the queue for the pages at and beneath nodes.

    title: what the job and the action are called. words: the log's, in the past. sample: a page for its example.
    """
    params = create_model(
        f"{settings.__name__}For{job_id.title().replace('-', '')}",
        __base__=settings,
        scope_ids=(ScopeIds, ...),
    )

    def start(ctx: ActionContext, p: Params) -> dict[str, Any]:
        """Raises NotFound for an unknown node, Forbidden by a lock, Invalid where there is no page."""
        scope: list[str] = cast(Any, p).scope_ids
        pages = pages_under(ctx.conn, scope, for_processing=True)
        if not pages:
            raise no_pages(scope)
        args = p.model_dump(mode="json", exclude={"scope_ids"})
        queued = ctx.enqueue(
            job_id,
            {**args, "page_ids": pages},
            title=f"{title} ({len(pages)} {'page' if len(pages) == 1 else 'pages'})",
            subject={"kind": "document", "id": pages[0]} if len(pages) == 1 else None,
        )
        ctx.target(*scope, queued)
        return {"job_id": queued, "pages": len(pages)}

    return action(
        f"layout.{job_id.replace('-', '_')}",
        params=params,
        result=StartedJob,
        summary=f"{title}, as a background job.",
        words=words,
        example=lambda ex: {"scope_ids": [sample(ex)]},
        guards_targets=True,
        after_undo=cancel_with_undo,
    )(start)
