"""Tokens in addresses, for programs that can be given an address and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from armarium.auth.authenticate import Auth
from armarium.errors import Forbidden
from armarium.principals import Principal

token_in_address = Forbidden.saying(
    "token_in_address",
    "Only a viewer's token for one project may stand in an address, where others can read it. Make one: "
    "armarium token create NAME --role viewer --library PROJECT.",
)

only_from_here = Forbidden.saying(
    "token_needed_from_elsewhere",
    "Without a token this address answers only programs on this machine itself, never through a proxy. Put a "
    "viewer's token in the place of `open`: armarium token create NAME --role viewer --library PROJECT.",
)

OPEN = "open"
"""Stands in the place of a token for the project that the owner lets programs on this machine look at without one."""


def principal_by_address(
    auth: Auth, path: str, linked: tuple[str, ...], **details: Any
) -> tuple[Principal, str]:
    """Return whose token follows the beginning of *path* that is among *linked*, and the one project that it is for;
    *details* as for `authenticate`.

    Raises Unauthorized; Forbidden for a token that opens more than a look at one project.
    """
    below = next(prefix for prefix in linked if path.startswith(prefix))
    principal = auth.authenticate(path.removeprefix(below).partition("/")[0], **details)
    projects = tuple(principal.libraries or ())
    if principal.token_kind != "agent" or principal.may("editor") or len(projects) != 1:
        raise token_in_address()
    auth.clients.saw(details["client"] or principal.name, details["transport"], principal.name)
    return principal, projects[0]


def principal_without_token(
    auth: Auth,
    project: Path,
    *,
    caller: str,
    local: bool,
    proxied: bool,
    transport: Literal["uds", "tcp"],
    client: str | None,
) -> tuple[Principal, str]:
    """Return who looks at the open *project* from this machine, and its path: a viewer whom no rights record names.

    Raises Forbidden for whoever asks from elsewhere.
    """
    if proxied or not local:
        raise only_from_here()
    path = str(project.resolve())
    principal = Principal(
        "machine",
        "this machine",
        "viewer",
        libraries=frozenset({path}),
        client=client,
        transport=transport,
    )
    auth.clients.saw(client or transport, transport)
    return principal, path
