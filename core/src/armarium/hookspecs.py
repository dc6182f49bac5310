"""The hooks a plugin may implement; each says when it is called, where, what it may raise and whose answer wins."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from starlette.requests import Request

    from armarium.actions import Step
    from armarium.engine import Engine
    from armarium.plugins import Plugin
    from armarium.principals import Principal

hookspec = pluggy.HookspecMarker("armarium")
hookimpl = pluggy.HookimplMarker("armarium")


@hookspec
def armarium_plugin() -> Plugin:  # type: ignore[empty-body]
    """Say what the plugin brings.

    Called once, when an engine is assembled, in the main thread, before any library is open. Must be quick and
    must not touch disk or network. If it raises, the plugin is refused whole and shown with the reason. Every
    plugin is asked for itself: there is no winner.
    """


@hookspec
def armarium_lifespan(engine: Engine) -> AbstractAsyncContextManager[None]:  # type: ignore[empty-body]
    """Open what the plugin holds, and close it again.

    Called when the engine starts, in its event loop, after the databases are open and before jobs run; left when
    the engine stops, in the opposite order. If entering raises, the engine runs on and the plugin is reported. The
    trial of a plugin enters it too, offline and in an empty state folder: there it must neither hang nor end the process.
    """


@hookspec
def armarium_step_committed(step: Step) -> None:
    """Learn of a step that is on disk.

    Called after the commit, outside the transaction, in the thread that ran the action. May enqueue jobs; must
    not write tracked rows and cannot veto. What it raises is logged under the plugin's name and goes no further.
    """


@hookspec(firstresult=True)
def armarium_principal(request: Request) -> Principal | None:
    """Say who is asking, before the engine's own tokens are looked at.

    Called in the event loop for each request that needs a caller. The first answer that is not None wins; an
    exception counts as no answer and is logged.
    """
