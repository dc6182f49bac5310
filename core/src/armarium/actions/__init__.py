"""Actions: the only way to write; each is audited, runs in one transaction, and can be undone."""

from armarium.actions.bus import Bus, change_data
from armarium.actions.context import ActionContext, Example, Outcome, Step
from armarium.actions.definition import (
    Action,
    ActionRegistry,
    NoParams,
    Params,
    Route,
    RowLaw,
    RowRule,
    SourceText,
    action,
    actions_in,
    invalid_request,
)
from armarium.actions.recording import redact_params
from armarium.actions.rights import authorise, clash

__all__ = [
    "Action",
    "ActionContext",
    "ActionRegistry",
    "Bus",
    "Example",
    "NoParams",
    "Outcome",
    "Params",
    "Route",
    "RowLaw",
    "RowRule",
    "SourceText",
    "Step",
    "action",
    "actions_in",
    "authorise",
    "change_data",
    "clash",
    "invalid_request",
    "redact_params",
]
