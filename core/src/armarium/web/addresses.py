"""Tokens in addresses, for programs that can be given an address and nothing else."""

from __future__ import annotations

from typing import Any

from armarium.auth.authenticate import Auth
from armarium.errors import Forbidden
from armarium.principals import Principal

token_in_address = Forbidden.saying(
    "token_in_address",
    "Only a viewer's token for one project may stand in an address, where others can read it. Make one: "
    "armarium token create NAME --role viewer --library PROJECT.",
)


def principal_by_address(
    auth: Auth, path: str, linked: tuple[str, ...], **asked: Any
) -> tuple[Principal, str]:
    """Return whose token follows the beginning of *path* that is among *linked*, and the one project that it is for;
    *asked* as for `authenticate`.

    Raises Unauthorized; Forbidden for a token that opens more than a look at one project.
    """
    below = next(one for one in linked if path.startswith(one))
    principal = auth.authenticate(path.removeprefix(below).partition("/")[0], **asked)
    projects = tuple(principal.libraries or ())
    if principal.token_kind != "agent" or principal.may("editor") or len(projects) != 1:
        raise token_in_address()
    auth.clients.saw(asked["client"] or principal.name, asked["transport"], principal.name)
    return principal, projects[0]
