"""Converts typed values of plain kinds without pydantic, with which Typer checks all others.

Importing pydantic takes longer than an engine takes to answer. Whatever is not plainly valid is left to Typer, which
says what is wrong with it.
"""

from __future__ import annotations

import enum
import os
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
NO = object()
"""Not a plain value: Typer converts it."""


def read_plainly(command: Any) -> None:
    """Let every parameter of *command*, and of the commands in it, take plain values directly."""
    listed = command.get_params

    def parameters(context: Any) -> Any:
        # The option --help appears only among them.
        params = listed(context)
        for param in params:
            # Typer before 0.26 has no such description, and converts values without pydantic.
            if hasattr(param, "type_descriptor") and "process_value" not in vars(param):
                param.process_value = _reader(param, param.process_value)
        return params

    command.get_params = parameters
    for subcommand in getattr(command, "commands", {}).values():
        read_plainly(subcommand)


def _reader(parameter: Any, typers: Any) -> Any:
    described = parameter.type_descriptor
    several = parameter.multiple or parameter.nargs == -1

    def read(context: Any, given: Any) -> Any:
        rules = described.parameter_info
        value = NO if rules.parser is not None else _value(given, described.annotation, rules, several)
        if value is NO or (parameter.required and (value is None or value in ((), []))):
            return typers(context, given)
        return value if parameter.callback is None else parameter.callback(context, parameter, value)

    return read


def _value(value: Any, kind: Any, rules: Any, several: bool) -> Any:
    if value is None:
        return () if several else None
    if several:
        if get_origin(kind) is not list or isinstance(value, str):
            return NO
        values = [_parse_one(item, get_args(kind)[0], rules) for item in value]
        return NO if NO in values else values
    return _parse_one(value, kind, rules)


def _parse_one(value: Any, kind: Any, rules: Any) -> Any:
    if kind in (bool, str):
        return value if type(value) is kind else NO
    if kind in (int, float):
        return _number(value, kind, rules)
    if kind is Path:
        return _path(value, rules)
    if not isinstance(value, str) or not rules.case_sensitive:
        return NO
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else NO
    if isinstance(kind, enum.EnumMeta) and value in list(kind.__members__.values()):
        return kind(value)
    return NO


def _number(value: Any, kind: Any, rules: Any) -> Any:
    if rules.clamp or not (type(value) is kind or (isinstance(value, str) and _NUMBER.fullmatch(value))):
        return NO
    if kind is int and isinstance(value, str) and "." in value:
        return NO
    number = kind(value)
    fits = (rules.min is None or number >= rules.min) and (rules.max is None or number <= rules.max)
    return number if fits else NO


def _path(value: Any, rules: Any) -> Any:
    if not isinstance(value, str | Path) or rules.exists or rules.resolve_path or rules.path_type is not None:
        return NO
    # A file that exists may have to be of a kind, or readable.
    return NO if os.path.exists(value) else Path(value)
