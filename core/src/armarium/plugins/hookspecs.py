"""The hooks of the engine itself; each says when it is called, where, what it may raise and whose answer wins.

Families offer points of their own in the same way (`Plugin.hookspecs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium.plugin import Plugin, hookspec

if TYPE_CHECKING:
    from armarium.actions import Step


@hookspec
def armarium_plugin() -> Plugin:
    """Return what the plugin contributes.

    Called once, when an engine is assembled, in the main thread, before any project is open. Must be quick and must not
    touch disk or network. If it raises, the plugin is refused whole and shown with the reason. Every plugin answers for
    itself: there is no winner.
    """


@hookspec
def armarium_step_committed(step: Step) -> None:
    """Receive a step that has been committed.

    Called after the commit, outside the transaction, in the thread that ran the action. May queue jobs; must not write
    tracked rows and cannot veto. An exception is logged under the plugin's name and goes no further.
    """
