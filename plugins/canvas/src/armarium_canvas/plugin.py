"""The plugin of the canvas family: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_canvas import actions, queries
from armarium_canvas.carrying import carrier
from armarium_canvas.linking import CanvasItemEnd
from armarium_canvas.records import metadata
from armarium_canvas.routes import router
from armarium_documents.api import Carrier


@hookimpl
def armarium_plugin() -> Plugin:
    """The layout of a folder's cards, notes and links, and its picture."""
    return Plugin(
        name="canvas",
        summary="Where the cards, notes and links of a folder lie, and the picture of it",
        metadata=metadata,
        actions=actions_in(actions),
        queries=queries_in(queries),
        routers=(router,),
        hooks=__name__,
    )


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (carrier,)


@hookimpl(optionalhook=True)
def armarium_source_model_link_ends() -> Sequence[CanvasItemEnd]:
    return (CanvasItemEnd(),)
