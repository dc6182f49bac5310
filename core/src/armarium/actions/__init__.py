"""Actions: the only way to write; each is audited, runs in one transaction, and can be undone."""

from armarium.actions.bus import Bus as Bus
from armarium.actions.bus import change_data as change_data
from armarium.actions.context import ActionContext as ActionContext
from armarium.actions.context import Example as Example
from armarium.actions.context import Outcome as Outcome
from armarium.actions.context import Step as Step
from armarium.actions.definition import Action as Action
from armarium.actions.definition import ActionRegistry as ActionRegistry
from armarium.actions.definition import NoParams as NoParams
from armarium.actions.definition import Params as Params
from armarium.actions.definition import Route as Route
from armarium.actions.definition import RowLaw as RowLaw
from armarium.actions.definition import RowRule as RowRule
from armarium.actions.definition import SourceText as SourceText
from armarium.actions.definition import action as action
from armarium.actions.definition import actions_in as actions_in
from armarium.actions.definition import invalid_request as invalid_request
from armarium.actions.recording import redact_params as redact_params
from armarium.actions.rights import authorise as authorise
from armarium.actions.rights import clash as clash
