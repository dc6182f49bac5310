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
        found = listed(context)
        for one in found:
            # Typer before 0.26 has no such description, and converts values without pydantic.
            if hasattr(one, "type_descriptor") and "process_value" not in vars(one):
                one.process_value = _reader(one, one.process_value)
        return found

    command.get_params = parameters
    for one in getattr(command, "commands", {}).values():
        read_plainly(one)


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


def _value(given: Any, kind: Any, rules: Any, several: bool) -> Any:
    if given is None:
        return () if several else None
    if several:
        if get_origin(kind) is not list or isinstance(given, str):
            return NO
        found = [_parse_one(one, get_args(kind)[0], rules) for one in given]
        return NO if NO in found else found
    return _parse_one(given, kind, rules)


def _parse_one(given: Any, kind: Any, rules: Any) -> Any:
    if kind in (bool, str):
        return given if type(given) is kind else NO
    if kind in (int, float):
        return _number(given, kind, rules)
    if kind is Path:
        return _path(given, rules)
    if not isinstance(given, str) or not rules.case_sensitive:
        return NO
    if get_origin(kind) is Literal:
        return given if given in get_args(kind) else NO
    if isinstance(kind, enum.EnumMeta) and given in list(kind.__members__.values()):
        return kind(given)
    return NO


def _number(given: Any, kind: Any, rules: Any) -> Any:
    if rules.clamp or not (type(given) is kind or (isinstance(given, str) and _NUMBER.fullmatch(given))):
        return NO
    if kind is int and isinstance(given, str) and "." in given:
        return NO
    number = kind(given)
    fits = (rules.min is None or number >= rules.min) and (rules.max is None or number <= rules.max)
    return number if fits else NO


def _path(given: Any, rules: Any) -> Any:
    if not isinstance(given, str | Path) or rules.exists or rules.resolve_path or rules.path_type is not None:
        return NO
    # A file that exists may have to be of a kind, or readable.
    return NO if os.path.exists(given) else Path(given)
