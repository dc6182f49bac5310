"""What an action is: its name, parameters, rights and body; the registry of actions by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Generic, Literal, TypeVar, cast, overload

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from armarium.errors import Forbidden, Invalid, NotFound, ServiceError
from armarium.messages import Sent, plain_fault, sentence_of_faults
from armarium.principals import Principal, Role

if TYPE_CHECKING:
    import sqlite3

    from armarium.actions.conducting import Conductor
    from armarium.actions.context import ActionContext, Example, Outcome
    from armarium.actions.undo import UndoContext
    from armarium.engine import Engine
    from armarium.projects.libraries import Library

P = TypeVar("P", bound=BaseModel)
Q = TypeVar("Q", bound=BaseModel)


class SourceTextMark:
    """Marks a field that holds words of the source, which never enter the audit log."""


SourceText = Annotated[str, SourceTextMark()]
"""A parameter that holds page text, a reading or a note: the audit row records only its length."""


class Params(Sent):
    """Base of every action's parameters; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    def dump_changes(self, *others: str, empty: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """Return what an update writes: a field left out stays, null clears it.

        A field is replaced as a whole, with the defaults inside it filled in, as when the row is created. *others* are the
        fields that are no columns to write. *empty* has what null means where a column always has a value.
        """
        sent = self.model_dump(include=self.model_fields_set.difference(others))
        return {name: empty.get(name) if value is None else value for name, value in sent.items()}


class NoParams(Params):
    """Parameters of an action that takes none."""


@dataclass(frozen=True)
class RowRule(Generic[P]):
    """A right that an action needs only when it changes a row in a certain way.

    Checked at the end of each step in which the action ran, by itself or inside another, for every row of *table* that
    the step changed; likewise for undo and redo, in whichever direction the change goes.
    """

    table: str
    ask: Literal["person", "owner", "run"]
    """A person, the owner, or work of the engine itself."""
    when: Callable[[Mapping[str, Any] | None, Mapping[str, Any] | None], bool] | None = None
    """Whether changing the row from the first image to the second (None: no row) needs the right.

    None: only the parameters decide, so whoever may run the action may also undo and redo it.
    """
    refusal: Callable[[], ServiceError] | None = None
    """The refusal for a caller without the right; by default 403 person_only or owner_only."""
    sent: Callable[[P], bool] | None = None
    """Whether the parameters need the right regardless of the rows; checked before anything is done."""

    def allows(self, principal: Principal) -> bool:
        """Return whether *principal* has the right."""
        if self.ask == "run":
            return principal.token_kind == "run"
        return principal.kind == "person" if self.ask == "person" else principal.may("owner")

    def make_refusal(self, title: str) -> ServiceError:
        """Return the refusal for a caller without the right who runs the action of that title."""
        if self.refusal is not None:
            return self.refusal()
        return person_only(title) if self.ask == "person" else owner_only(title)


@dataclass(frozen=True)
class RowLaw:
    """What must hold for every row of *table* that a step with this action leaves changed.

    Checked at the end of the step, for any caller, for each such row that then exists; likewise for undo and redo, so
    that they leave nothing behind that the action itself would refuse.
    """

    table: str
    broken: Callable[[sqlite3.Connection, Mapping[str, Any]], ServiceError | None]
    """Returns the refusal when the row as it is now violates the law, else None; it may read other rows."""

    @classmethod
    def one(
        cls,
        table: str,
        key: Sequence[str],
        refusal: Callable[[Mapping[str, Any], str], ServiceError],
        *,
        ended: str | None = None,
    ) -> RowLaw:
        """Return the law that of all rows with the same *key* there is one (with *ended*: one in which that column is null);
        rows whose key begins with a null may be many. *refusal* is called with a row and the id of the other one.
        """
        same_key = " AND ".join(f"{column} IS ?" for column in key)
        standing = "" if ended is None else f" AND {ended} IS NULL"
        statement = f"SELECT id FROM {table} WHERE {same_key} AND id <> ?{standing}"

        def find_breach(raw: sqlite3.Connection, row: Mapping[str, Any]) -> ServiceError | None:
            if row[key[0]] is None or (ended is not None and row[ended] is not None):
                return None
            twin = raw.execute(statement, (*(row[column] for column in key), row["id"])).fetchone()
            return None if twin is None else refusal(row, twin[0])

        return cls(table, find_breach)


person_only = Forbidden.saying("person_only", "Only a person may do this ({title}), not a machine.")
owner_only = Forbidden.saying("owner_only", "Only the owner may do this ({title}).")


@dataclass(frozen=True)
class Route:
    """The route of an action: its path parameters and body are the action's parameters, its answer the result with
    `audit_id`.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    path: str
    """With a `{name}` for each parameter that stands in the path; all others are the body's."""
    refusals: tuple[int, ...] = (404, 409)
    """The statuses it may answer besides those of every route (`REFUSALS`)."""
    status: int = 200
    name: str | None = None
    """The operation id after the first word of the path; by default the action's verb."""
    answer: str | None = None
    """The title of the answer, where it is not the result's name with `Written`."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Which parameter a name in the path fills, where they differ."""

    @property
    def path_fields(self) -> dict[str, str]:
        """Return each name in the path with the field it fills."""
        names = re.findall(r"\{(\w+)", self.path)
        return {name: self.fields.get(name, name) for name in names}


def _nothing(ctx: ActionContext, params: Any) -> Any:
    raise TypeError("the decorator of this action was never applied to a function")


def _declare_params(name: str, perform: Any) -> tuple[type[Any], Callable[..., Any]]:
    """Return the type of the parameters of the action *name*, and what performs it with one of that type: the function itself
    where its second parameter is a model; else what it declares after the first are the fields of one.
    """
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(perform).parameters.values())[1:]:
        kind = (
            eval(parameter.annotation, perform.__globals__)
            if isinstance(parameter.annotation, str)
            else parameter.annotation
        )
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind, perform
        fields[parameter.name] = kind, ... if parameter.default is parameter.empty else parameter.default

    @wraps(perform)
    def spread(ctx: ActionContext, params: BaseModel) -> Any:
        return perform(ctx, **dict(params))

    title = "".join(map(str.capitalize, re.split(r"[._]", name)))
    return create_model(title, __base__=Params, __module__=perform.__module__, **fields), spread


@dataclass(frozen=True, kw_only=True, eq=False)
class Action(Generic[P]):
    """A named write, made by decorating the function that performs it; the function's name then refers to the action.

        @action("canvas.item_delete", summary="Take an item off the canvas.")
        def item_delete(ctx: ActionContext, p: ItemDeleteParams) -> dict[str, Any]: ...

    The function runs inside one transaction; its changes can be undone without a handwritten inverse.
    """

    name: str = field(kw_only=False)
    summary: str
    params: type[P] = None  # type: ignore[assignment]
    """By default what the function declares its second parameter to be, or the fields that it declares after the first."""
    perform: Callable[[ActionContext, P], Any] = _nothing
    result: type[BaseModel] | None = None
    route: Route | None = None
    """The HTTP route that only runs this action; the engine creates it (`armarium.web.action_routes`)."""
    role: Role = "editor"
    person_only: bool | Callable[[], ServiceError] = False
    """Whether machines are refused: with 403 person_only, or with the result of the given function."""
    rules: tuple[RowRule[P], ...] = ()
    """Rights that only some of its changes need."""
    laws: tuple[RowLaw, ...] = ()
    """What holds for the rows it changes, after undo and redo as well."""
    guards_targets: bool = False
    """Whether a locked node among its targets refuses it: for an action that queues work, which its own rows do not
    show. Locks over the rows that a step changes are always checked (`armarium.history.locks`).
    """
    spends: bool = True
    """Whether a step of it is one write of an agent's budget."""
    undoes_sets: bool = False
    """Whether undo also undoes everything that the jobs among its targets wrote, and redo does it again."""
    undoable: bool = True
    scope: Literal["library", "engine", "either"] = "library"
    """Which database it writes to; `either`: the named project's, else the engine's own."""
    bound: bool = False
    """Whether a token bound to some projects may run it although it is engine-wide; the action then checks the reach
    itself.
    """
    undo_name: str | None = None
    """The action name of the step that undoes it, where a part sets one; else its own name."""
    example: Callable[[Example], dict[str, Any]] | None = None
    """Returns parameters with which it succeeds, for the conformance kit; may run other actions first."""
    after_undo: Callable[[UndoContext], None] | None = None
    """Append-only notes and outside effects of undoing it; runs inside the undo's transaction."""
    prepare: Callable[[Engine, Library | None, P], None] | None = None
    """The slow part that only reads, or stores files (decoding, parsing), before the writer is taken.

    It leaves results in private attributes of the parameters, and may refuse. An action run inside another is not
    prepared, and rows may have changed since the preparation; `perform` must cope with both.
    """

    conduct: Callable[[Conductor, P], Outcome] | None = None
    """Carries the action out in several transactions, if need be in several projects; `perform` is then the one step
    that undo reverts. Called before any writer is taken. An action run inside another is not conducted.
    """
    partner: Callable[[Engine, Library, str], tuple[Library, str] | None] | None = None
    """Returns the step (by its audit row) in another project that is undone and redone together with the given one."""
    words: str | Callable[[Mapping[str, Any]], str] | None = None
    """What the history calls a step of it, in the past tense: "Moved {ids} to {parent_id|the top}".

    Braces hold the name of a parameter and are replaced by the names of the documents that its ids are or belong to;
    empty braces stand for the step's targets. The text after a bar is used where there are none. A function receives
    the parameters as the log keeps them and returns such a text. None: the summary.
    """

    @overload
    def __call__(self, perform: Callable[[ActionContext, Q], Any]) -> Action[Q]: ...
    @overload
    def __call__(self, perform: Callable[Concatenate[ActionContext, ...], Any]) -> Action[Any]: ...
    def __call__(self, perform: Callable[..., Any]) -> Action[Any]:
        """Decorate *perform*: return this action with it as its body."""
        if self.params is not None:
            return replace(self, perform=perform)
        params, performing = _declare_params(self.name, perform)
        return replace(cast("Action[Any]", self), perform=performing, params=params)

    @property
    def title(self) -> str:
        """Return what it does, in words that stand within a sentence."""
        return self.summary.rstrip(".")

    def parse(self, params: Mapping[str, Any] | BaseModel) -> P:
        """Validate *params* against this action's model; raises Invalid with one sentence and the list of faults."""
        if isinstance(params, self.params):
            return params
        try:
            return self.params.model_validate(params)
        except ValidationError as error:
            raise invalid_request(error, self.name) from error

    def describe(self, plugin: str) -> dict[str, Any]:
        """Return the registry entry: what it does, who may run it, and its JSON Schemas."""
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
"""The decorator a family puts on the function that performs an action."""


def modules_of(*modules: ModuleType) -> Iterator[ModuleType]:
    """Yield *modules*, and of a package among them each module that lies in it, not those of packages within it."""
    for module in modules:
        yield module
        for info in iter_modules(getattr(module, "__path__", ())):
            if not info.ispkg:
                yield import_module(f"{module.__name__}.{info.name}")


def actions_in(*modules: ModuleType) -> tuple[Action[Any], ...]:
    """Return the actions declared in *modules*, or in the modules of a package; those that one only imports are left out."""
    return tuple(
        var
        for module in modules_of(*modules)
        for var in vars(module).values()
        if isinstance(var, Action) and var.perform.__module__ == module.__name__
    )


def invalid_request(error: ValidationError, what: str) -> Invalid:
    """Return pydantic's faults as one refusal: a sentence, and each fault without the value that was sent."""
    faults = [
        {"loc": list(fault["loc"]), "msg": plain_fault(fault["msg"]), "type": fault["type"]}
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    sentence = f"{what}: {sentence_of_faults(faults, 'the body')}"
    return Invalid(sentence, code="invalid_request", errors=faults)


class ActionRegistry:
    """The actions of one engine by name, each with its plugin."""

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
        """Return the action *name*; NotFound points to the registry."""
        try:
            return self._actions[name][0]
        except KeyError:
            near = get_close_matches(name[:80], self._actions, 1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise NotFound(
                f"There is no action {name[:80]!r}. {hint}The list of actions shows all of them.",
                code="unknown_action",
            ) from None

    def find(self, name: str) -> Action[Any] | None:
        """Return the action *name*, or None when no loaded plugin provides it."""
        return self._actions[name][0] if name in self._actions else None

    def title_of(self, name: str) -> str:
        """Return what the action *name* does, in words; the name where no loaded plugin provides it."""
        return self._actions[name][0].title if name in self._actions else name

    def all(self) -> list[Action[Any]]:
        """Return every action, sorted by name."""
        return [self._actions[name][0] for name in sorted(self._actions)]

    def plugin_of(self, name: str) -> str | None:
        """Return the plugin that provides the action *name*; None when there is none."""
        entry = self._actions.get(name)
        return None if entry is None else entry[1]

    def describe(self) -> list[dict[str, Any]]:
        """Return every registry entry by name; computed once (150 ms for 150 actions), so callers must not modify it."""
        if self._described is None:
            self._described = [
                self._actions[name][0].describe(self._actions[name][1]) for name in sorted(self._actions)
            ]
        return self._described
