"""Verdicts over HTTP: the route for people, and the one for agents, which never gives a person's verdict."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request, Response

from armarium.api import REFUSALS, CurrentLibrary, CurrentPrincipal, Router, act, written
from armarium_checking.records.checks import Verdict, VerdictParams

router = Router(tags=["checking"])


@router.post(
    "/api/check/verdicts",
    response_model=written(Verdict),
    responses=REFUSALS(404, 409),
    summary="Give a verdict (check.verdict)",
)
def give_verdict(request: Request, _: CurrentLibrary, body: VerdictParams) -> Response:
    """A person's is trusted as one, a machine's as a model's; it does not change the state of the proposal."""
    return act(request, "check.verdict", body)


@router.post(
    "/api/mcp/tools/check/verdicts",
    response_model=written(Verdict),
    responses=REFUSALS(404, 409),
    summary="Give a verdict as an agent (check.verdict)",
)
def give_agents_verdict(
    request: Request, _: CurrentLibrary, principal: CurrentPrincipal, body: VerdictParams
) -> Response:
    """Like the route for people, but always trusted as a model's, even if the token is a person's."""
    agent = replace(principal, kind="machine", for_person=False)
    return act(request, "check.verdict", body, principal=agent)
