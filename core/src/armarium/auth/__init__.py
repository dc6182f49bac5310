"""Who may do what: principals by token, pairing, presence, rate limit, and the engine-wide settings of part C 4.7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armarium.auth.authenticate import Auth
    from armarium.auth.plugin import core_auth_plugin

__all__ = ["Auth", "core_auth_plugin"]


def __getattr__(name: str) -> Any:
    """Import on first use: a command that only speaks to a running engine reads a token file and needs no database."""
    if name == "Auth":
        from armarium.auth.authenticate import Auth

        return Auth
    if name == "core_auth_plugin":
        from armarium.auth.plugin import core_auth_plugin

        return core_auth_plugin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
