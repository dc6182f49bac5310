"""Pages that are skipped: because there is nothing to do on them, or because no model may see them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from armarium.api import Forbidden, JobContext, PageWithheld, find_withheld


def refuse_withheld_page(
    ctx: JobContext, document_id: str, use: Literal["local-model", "cloud-model"]
) -> None:
    """Skip a page that no model may see; checked when its turn comes, since it may have been restricted meanwhile."""
    why = find_withheld(ctx.library, ctx.principal, [document_id], use).get(document_id)
    if why is not None:
        raise PageWithheld(why)


@contextmanager
def passing_over_restricted() -> Iterator[None]:
    """Skip a page that was restricted while it was being read: its lines are not written."""
    try:
        yield
    except Forbidden as refusal:
        if refusal.code != "rights_restricted":
            raise
        raise PageWithheld(refusal.detail) from refusal
