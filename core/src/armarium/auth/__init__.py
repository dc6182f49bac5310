"""Who may do what: principals by token, pairing, presence, rate limit, and the engine-wide settings of part C 4.7."""

from armarium.auth.authenticate import Auth
from armarium.auth.plugin import core_auth_plugin

__all__ = ["Auth", "core_auth_plugin"]
