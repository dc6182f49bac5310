"""Pages that are passed over: because there is nothing to do on them, or because they may not be sent to a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from armarium.api import Forbidden, JobContext, PageWithheld, find_withheld


def refuse_withheld_page(
    ctx: JobContext, document_id: str, use: Literal["local-model", "cloud-model"]
) -> None:
    """Pass over a page that may not be sent: asked when its turn comes, for it may have been restricted meanwhile."""
    why = find_withheld(ctx.library, ctx.principal, [document_id], use).get(document_id)
    if why is not None:
        raise PageWithheld(why)


@contextmanager
def passing_over_restricted() -> Iterator[None]:
    """Pass over a page that was restricted while it was read: its lines are not written."""
    try:
        yield
    except Forbidden as refusal:
        if refusal.code != "rights_restricted":
            raise
        raise PageWithheld(refusal.detail) from refusal
