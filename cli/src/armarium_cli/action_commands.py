"""Every action as a command, with options made from the parameters in the registry."""

from __future__ import annotations

import inspect
import json
from inspect import Parameter
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from armarium_cli.declared import Commands
from armarium_cli.program import engine_session, which_project, work_session
from armarium_cli.refusals import Refused
from armarium_cli.tree import group_of

_PLAIN: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


class _Actions(TyperGroup):
    """A group with one command for each action of the engine, besides its own commands."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command; a name with a point is the name of an action."""
        command = super().get_command(ctx, cmd_name)
        return _command_of(cmd_name) if command is None and "." in cmd_name else command


actions = Commands(
    within="action ",
    cls=_Actions,
    help="Every write by its name: armarium action NAME --help lists its options.",
    no_args_is_help=True,
)


@actions.asks(
    "list",
    "GET /api/actions/registry",
    of="engine",
    columns=(
        "name",
        "what it does=summary",
        "who=role",
        ("", lambda row: "" if row["undoable"] else "cannot be undone"),
    ),
)
def list_actions() -> None:
    """List all actions."""


@actions.example("show document.create")
def show_action(name: Annotated[str, "Name of the action."]) -> None:
    """Show the parameters an action takes, as JSON Schema."""
    typer.echo(json.dumps(_describe_action(name), indent=2, ensure_ascii=False))


@actions.example("""run document.create -p '{"name": "Box 3"}'""")
def run_action(
    name: Annotated[str, "Name of the action."],
    params: Annotated[str, "--params, -p: Its parameters as JSON."] = "{}",
) -> None:
    """Run any action; the answer is JSON."""
    fields = _json("--params", params)
    if not isinstance(fields, dict):
        raise Refused("--params must be a JSON object.")
    _run(_describe_action(name), fields)


def _describe_action(name: str) -> dict[str, Any]:
    with engine_session() as session:
        described: list[dict[str, Any]] = session.get("/api/actions/registry", name=name)["items"]
    return described[0]


def _run(described: dict[str, Any], params: dict[str, Any]) -> None:
    with work_session() as session:
        if described["scope"] == "library" and session.library is None:
            raise Refused(which_project(session))
        if described["scope"] == "engine":
            session.library = None
        answer = session.act(described["name"], params)
    typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def _command_of(name: str) -> Any:
    """Return the command that runs the action *name*, with an option for each parameter."""
    described = _describe_action(name)
    schema = described["params"]
    kinds = {
        field: _kind(parameter, schema.get("$defs", {}))
        for field, parameter in schema.get("properties", {}).items()
    }

    def command(**given: Any) -> None:
        fields = {field: value for field, value in given.items() if value is not None and value != []}
        _run(described, {field: kinds[field].read(field, value) for field, value in fields.items()})

    required = set(schema.get("required", ()))
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            Parameter(
                field,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if field in required else None,
                annotation=kind.annotation(f"--{field.replace('_', '-')}", required=field in required),
            )
            for field, kind in kinds.items()
        ]
    )
    undo = "" if described["undoable"] else " It cannot be undone."
    program = typer.Typer()
    program.command(name, help=f"{described['summary'].rstrip('.')}.{undo}")(command)
    return group_of("action", program).commands[name]


class _Kind:
    """The kind of one parameter, for its option: a plain type, a list of plain values, or JSON."""

    def __init__(self, plain: type | None, *, several: bool, about: str) -> None:
        self.plain = plain
        self.several = several
        self.about = about

    def annotation(self, name: str, *, required: bool) -> Any:
        kind: Any = self.plain or str
        kind = list[kind] if self.several else kind
        if self.plain is bool:
            name = f"{name}/--no-{name[2:]}"
        option = typer.Option(name, help=self.about, metavar=None if self.plain else "JSON")
        return Annotated[kind if required else kind | None, option]

    def read(self, field: str, value: Any) -> Any:
        """Convert what was typed into the value the action takes."""
        if self.plain is not None:
            return value
        name = f"--{field.replace('_', '-')}"
        return [_json(name, text) for text in value] if self.several else _json(name, value)


def _kind(parameter: dict[str, Any], definitions: dict[str, Any]) -> _Kind:
    about = str(parameter.get("description", ""))
    schema = _single_type(parameter, definitions)
    several = schema.get("type") == "array"
    if several:
        schema = _single_type(schema.get("items", {}), definitions)
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if values:
        about = f"{about} One of: {', '.join(map(str, values))}.".strip()
    return _Kind(_PLAIN.get(str(schema.get("type"))), several=several, about=about)


def _single_type(parameter: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the single type that a parameter's schema allows, apart from null; nothing where there are several."""
    if "$ref" in parameter:
        return _single_type(definitions.get(parameter["$ref"].rpartition("/")[2], {}), definitions)
    ways = [way for way in parameter.get("anyOf", ()) if way.get("type") != "null"]
    if len(ways) == 1:
        return _single_type(ways[0], definitions)
    return {} if ways or "oneOf" in parameter else parameter


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refused(f"{name} is not JSON: {error}.") from error
