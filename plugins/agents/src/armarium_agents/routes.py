"""The endpoint of agents over HTTP: Streamable HTTP of the Model Context Protocol at `/mcp`."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response

from armarium.api import CurrentPrincipal, Router, give_up_place, named_library
from armarium_agents.errors import agents_only, project_unnamed

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from armarium_agents.mcp.over_http import Endpoint

router = Router()


def _endpoint(request: Request) -> Endpoint:
    """Return the endpoint of this engine, made when the first agent connects: the SDK is loaded by then and not before."""
    state = request.app.state
    if not hasattr(state, "agents_endpoint"):
        from armarium_agents.mcp.over_http import Endpoint

        state.agents_endpoint = Endpoint(version("armarium-agents"))
    endpoint: Endpoint = state.agents_endpoint
    return endpoint


class _SdkAnswer(Response):
    """Hands the request to the SDK, which writes the answer itself."""

    def __init__(self, request: Request, endpoint: Endpoint, token_id: str, library: str | None) -> None:
        super().__init__()
        self._asked: Any = (request, endpoint, token_id, library)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, endpoint, token_id, library = self._asked
        await endpoint.answer(request, token_id, library, send, receive)


# Another protocol than that of the published routes describes what is asked and answered here.
@router.api_route("/mcp", methods=["POST", "DELETE"], include_in_schema=False, response_model=None)
async def answer_agent(request: Request, principal: CurrentPrincipal) -> Response:
    """Answer an agent. Only its own token is taken, and only in the Authorization header: no session of a browser, and
    nobody's rights but a machine's.
    """
    if principal.token_kind != "agent" or principal.token_id is None:
        raise agents_only()
    library = named_library(request)
    if library is None and principal.libraries is not None and len(principal.libraries) == 1:
        (library,) = principal.libraries
    if library is None and request.method == "POST":
        raise project_unnamed()
    give_up_place(request)
    return _SdkAnswer(request, _endpoint(request), principal.token_id, library)
