"""The refusals of workspaces and of the endpoint of agents, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import BadRequest, Forbidden, Invalid, NotFound, missing

unknown_workspace = missing("workspace", "List the workspaces to find the right id.")
unknown_member = missing(
    "workspace member", "Read the workspace: its members have ids of their own.", code="member_not_found"
)


unknown_target = NotFound.saying(
    "not_found",
    "There is no {kind} {target_id} in this project, so the workspace cannot refer to it.",
    id="target_id",
)


def other_kind(target_id: str, name: str, is_note: bool) -> Invalid:
    """422: a note was named as a source, or a source as a note."""
    is_kind, needed = ("a note", "a source") if is_note else ("not a note", "a note")
    return Invalid(
        f"“{name}” ({target_id}) is {is_kind} and cannot be added as {needed}; state its own kind.",
        code="other_kind",
    )


is_workspace = Invalid.saying("other_kind", "“{name}” is a workspace itself; add the sources it contains.")
too_many = Invalid.saying("workspace_full", "A workspace has at most {most:,} members. Remove some first.")

agents_only = Forbidden.saying(
    "agent_token_needed",
    "This is the endpoint of agents: it takes the token of an agent, in the Authorization header. Make one with "
    "`armarium token create NAME`.",
)
project_unnamed = BadRequest.saying(
    "library_required",
    "Which project? Name it with the header X-Service-Library-Path or with ?library= in the address, or use a token "
    "that is bound to one project.",
)
