"""What an action is: its name, parameters, rights and body; the registry of them by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from armarium.errors import Forbidden, Invalid, NotFound, ServiceError
from armarium.messages import Sent, plain_fault
from armarium.principals import Principal, Role

if TYPE_CHECKING:
    import sqlite3

    from armarium.actions.conducting import Conductor
    from armarium.actions.context import ActionContext, Example, Outcome
    from armarium.actions.undo import UndoContext
    from armarium.engine import Engine
    from armarium.projects.libraries import Library

P = TypeVar("P", bound=BaseModel)


class SourceTextMark:
    """Marks a field whose words belong to the source: they never enter the audit log."""


SourceText = Annotated[str, SourceTextMark()]
"""A parameter that holds page text, a reading, a note: the audit row says only how long it was."""


class Params(Sent):
    """Base of every action's parameters: an unknown field is refused."""

    model_config = ConfigDict(extra="forbid")


class NoParams(Params):
    """For an action that takes nothing."""


@dataclass(frozen=True)
class RowRule(Generic[P]):
    """A right that an action asks for only where it changes a row in a certain way.

    It is asked at the end of each step in which the action ran, alone or inside another, of every row of *table* that
    the step changed; of an undo and a redo likewise, whichever way the change goes.
    """

    table: str
    ask: Literal["person", "owner", "run"]
    """A person, the owner, or work of the engine itself."""
    when: Callable[[Mapping[str, Any] | None, Mapping[str, Any] | None], bool] | None = None
    """Whether the change of a row from the one image to the other (None: it is not there) asks for the right.

    None: only what is sent asks for it, so whoever may run the action may also undo and redo it.
    """
    refusal: Callable[[], ServiceError] | None = None
    """What a caller without it is told; none: 403 person_only or owner_only."""
    sent: Callable[[P], bool] | None = None
    """Whether the parameters ask for it already, whatever the rows say; they are looked at before anything is done."""

    def allows(self, principal: Principal) -> bool:
        """Whether *principal* has the right."""
        if self.ask == "run":
            return principal.token_kind == "run"
        return principal.kind == "person" if self.ask == "person" else principal.may("owner")

    def make_refusal(self, name: str) -> ServiceError:
        """What a caller without the right is told who runs the action *name*."""
        if self.refusal is not None:
            return self.refusal()
        return person_only(name) if self.ask == "person" else owner_only(name)


@dataclass(frozen=True)
class RowLaw:
    """What is to be true of every row of *table* that a step in which the action ran has left changed.

    It is asked at the end of the step, whoever its caller is, of each such row that is there then; of an undo and a redo
    likewise, so that they leave nothing behind that the action itself would refuse.
    """

    table: str
    broken: Callable[[sqlite3.Connection, Mapping[str, Any]], ServiceError | None]
    """What the step is refused with where the row as it is now breaks the law; it may look at other rows. None: it holds."""


def person_only(name: str) -> Forbidden:
    """403: the action *name* is not for machines."""
    return Forbidden(f"Only a person may do this ({name}), not a machine.", code="person_only")


def owner_only(name: str) -> Forbidden:
    """403: the action *name* is the owner's."""
    return Forbidden(f"Only the owner may do this ({name}).", code="owner_only")


@dataclass(frozen=True)
class Route:
    """The route of an action: its path parameters and its body are the action's parameters, its answer the result with
    `audit_id`."""

    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    path: str
    """With a `{name}` for each parameter that stands in the path; all others are the body's."""
    refusals: tuple[int, ...] = (404, 409)
    """The statuses it may answer beside those that any route may (`REFUSALS`)."""
    status: int = 200
    name: str | None = None
    """What clients call the operation, behind the first word of its path; else the action's own verb."""
    answer: str | None = None
    """What its answer is called where it is called otherwise than the result's name and `Written`."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Which field of the parameters a name in the path stands for, where they differ."""

    @property
    def path_fields(self) -> dict[str, str]:
        """Each name in the path with the field it fills."""
        names = re.findall(r"\{(\w+)", self.path)
        return {name: self.fields.get(name, name) for name in names}


def _nothing(ctx: ActionContext, params: Any) -> Any:
    raise TypeError("this action was never given the function that performs it")


@dataclass(frozen=True, kw_only=True, eq=False)
class Action(Generic[P]):
    """A named write, made by decorating the function that performs it; the function's name then *is* the action.

        @action("canvas.item_delete", params=ItemDeleteParams, summary="Take an item off the canvas.")
        def item_delete(ctx: ActionContext, p: ItemDeleteParams) -> dict[str, Any]: ...

    The function runs inside one transaction, and what it changes can be undone without any inverse.
    """

    name: str = field(kw_only=False)
    summary: str
    params: type[P]
    perform: Callable[[ActionContext, P], Any] = _nothing
    result: type[BaseModel] | None = None
    route: Route | None = None
    """The HTTP route that runs it and does nothing else; the engine makes it (`armarium.action_routes`)."""
    role: Role = "editor"
    person_only: bool | Callable[[], ServiceError] = False
    """Whether machines are refused: 403 person_only, or what the given function answers."""
    rules: tuple[RowRule[P], ...] = ()
    """Rights that only some of its changes ask for."""
    laws: tuple[RowLaw, ...] = ()
    """What its changes leave true, also when they are taken back or done again."""
    guards_targets: bool = False
    """Whether a lock over a node among its targets refuses it: for an action that puts work into the queue, of which
    its own rows tell nothing. Of the rows that a step changes the core asks by itself (`armarium.locks`)."""
    undoes_sets: bool = False
    """Whether its undo takes back with it all that the jobs among its targets have written, and a redo does that again."""
    undoable: bool = True
    scope: Literal["library", "engine", "either"] = "library"
    """Where it writes; `either`: in the library named, else in the engine's own database."""
    bound: bool = False
    """Whether a token bound to some projects may run it though it is engine-wide; it then looks itself at what it reaches."""
    undo_name: str | None = None
    """The name of the row that takes it back, where a part gives one; else its own name."""
    example: Callable[[Example], dict[str, Any]] | None = None
    """Parameters that make it succeed, for the conformance kit; may run other actions first."""
    after_undo: Callable[[UndoContext], None] | None = None
    """Append-only notes and outside effects of taking it back; runs inside the undo's transaction."""
    prepare: Callable[[Engine, Library | None, P], None] | None = None
    """The slow part that only reads or keeps files (decoding, parsing), before the writer is taken.

    What it finds it leaves on private attributes of the parameters. It may refuse. An action run inside another is
    not prepared, and what was prepared may have changed since, so `perform` must bear both.
    """

    conduct: Callable[[Conductor, P], Outcome] | None = None
    """Carries the action out in several transactions, in several projects if need be; `perform` is then the one step
    among them that undo takes back. Called before any writer is taken. An action run inside another is not conducted."""
    partner: Callable[[Engine, Library, str], tuple[Library, str] | None] | None = None
    """The step (by its audit row) in another project that is taken back, and done again, together with the given one."""
    words: str | Callable[[Mapping[str, Any]], str] | None = None
    """What a step of it is called in the history, in the past tense: "Moved {ids} to {parent_id|the top}".

    Braces hold the name of a parameter and stand for the names of the documents that its ids are or lie on; empty
    braces stand for those of the step's targets. What stands behind a bar is said where there are none. A function
    gets the parameters as the log keeps them, and answers such a text. None: the summary.
    """

    def __call__(self, perform: Callable[[ActionContext, P], Any]) -> Action[P]:
        """This action performed by *perform*: what makes it a decorator."""
        return replace(self, perform=perform)

    def parse(self, params: Mapping[str, Any] | BaseModel) -> P:
        """*params* as this action's model; Invalid with one sentence and the list of faults."""
        if isinstance(params, self.params):
            return params
        try:
            return self.params.model_validate(params)
        except ValidationError as error:
            raise invalid_request(error, self.name) from error

    def describe(self, plugin: str) -> dict[str, Any]:
        """The registry's entry: what it is, who may, and its JSON Schemas."""
        return {
            "name": self.name,
            "summary": self.summary,
            "plugin": plugin,
            "role": self.role,
            "person_only": bool(self.person_only),
            "undoable": self.undoable,
            "scope": self.scope,
            "params": self.params.model_json_schema(),
            "result": self.result.model_json_schema() if self.result else None,
        }


action = Action
"""What a family writes above the function that performs an action."""


def invalid_request(error: ValidationError, what: str) -> Invalid:
    """Pydantic's faults as one refusal: a sentence, and each fault without the value that was sent."""
    faults = [
        {"loc": list(fault["loc"]), "msg": plain_fault(fault["msg"]), "type": fault["type"]}
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"]) or "the body"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return Invalid(
        f"{what}: {where}: {first['msg']}{more}.",
        code="invalid_request",
        errors=faults,
    )


class ActionRegistry:
    """The actions of one engine by name, each with the plugin that brings it."""

    def __init__(self) -> None:
        self._actions: dict[str, tuple[Action[Any], str]] = {}
        self._described: list[dict[str, Any]] | None = None

    def add(self, found: Action[Any], plugin: str) -> None:
        """Register *found*; a name is never overwritten."""
        if found.name in self._actions:
            raise ValueError(f"the action {found.name} is registered twice")
        self._actions[found.name] = (found, plugin)
        self._described = None

    def get(self, name: str) -> Action[Any]:
        """The action *name*; NotFound that points at the registry."""
        try:
            return self._actions[name][0]
        except KeyError:
            raise NotFound(
                f"There is no action {name[:80]!r}; the list of actions names those there are.",
                code="unknown_action",
            ) from None

    def find(self, name: str) -> Action[Any] | None:
        """The action *name*, or None when no loaded plugin brings it."""
        return self._actions[name][0] if name in self._actions else None

    def all(self) -> list[Action[Any]]:
        """Every action, by name."""
        return [self._actions[name][0] for name in sorted(self._actions)]

    def plugin_of(self, name: str) -> str | None:
        """The plugin that brings the action *name*; None for a step that is of no registered action."""
        found = self._actions.get(name)
        return None if found is None else found[1]

    def describe(self) -> list[dict[str, Any]]:
        """Every action's registry entry, by name; made once (150 ms for 150 actions), so nobody may change it."""
        if self._described is None:
            self._described = [
                self._actions[name][0].describe(self._actions[name][1]) for name in sorted(self._actions)
            ]
        return self._described
