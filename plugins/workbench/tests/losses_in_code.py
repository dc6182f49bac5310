"""Finds in the code what exports say is lost and why, also where it reaches `lose` and `Loss` by the name of a variable."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

LOSING = {"lose": (0, 1), "Loss": (0, 2)}
"""Where the calls that note a loss take what is lost, and why."""
SAYING = {"what", "why"}
"""What the variables and the keys of answers are called that say it."""

SPELLED = ast.Constant | ast.JoinedStr | ast.IfExp | ast.BoolOp
"""What is a string as it stands, and no look-up of one."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of_call(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def find_losses(trees: Iterable[ast.Module]) -> list[ast.expr]:
    """Return the expressions of one distribution's modules that say what is lost, or why."""
    return [value for value in find_values(list(trees)) if isinstance(value, SPELLED)]


def find_values(trees: list[ast.Module]) -> Iterator[ast.expr]:
    """What the calls, variables, parameters and constants that say it are given, of whatever sort."""
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, Function)]
    losing = [function for function in functions if notes_losses(function)]
    losing_names = {name for function in losing for name in find_names(function)}
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.Assign):
                yield from find_assigned(node, losing_names)
    parameters: dict[str, set[int]] = {}
    for function in losing:
        yield from find_in_calls(function)
        yield from find_keys(function)
        yield from find_given(function, find_names(function) | SAYING)
        arguments = [argument.arg for argument in function.args.args]
        for at, name in enumerate(arguments):
            if name in find_names(function):
                parameters.setdefault(function.name, set()).add(at - (arguments[0] == "self"))
    for function in functions:
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            for at in parameters.get(name_of_call(call), ()):
                passed = call.args[at] if 0 <= at < len(call.args) else None
                if isinstance(passed, ast.Name):
                    yield from find_given(function, {passed.id})
                elif passed is not None:
                    yield passed


def notes_losses(function: Function) -> bool:
    """Whether *function* notes or answers losses."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and name_of_call(node) in (*LOSING, "as_losses"):
            return True
        if (
            isinstance(node, ast.Dict)
            and {key.value for key in node.keys if isinstance(key, ast.Constant)} >= SAYING
        ):
            return True
        if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "losses":
            return True
    return False


def find_names(function: Function) -> set[str]:
    """The variables that *function* passes on as what is lost, or why."""
    parts = (*find_in_calls(function), *find_keys(function))
    return {part.id for part in parts if isinstance(part, ast.Name)}


def find_in_calls(function: Function) -> list[ast.expr]:
    """What is lost and why, where a call says it."""
    return [
        call.args[at]
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        for at in LOSING.get(name_of_call(call), ())
        if at < len(call.args)
    ]


def find_keys(function: Function) -> Iterator[ast.expr]:
    """What is lost and why, where that is the key under which it is counted."""
    for node in ast.walk(function):
        keys = (
            node.keys
            if isinstance(node, ast.Dict)
            else [node.key if isinstance(node, ast.DictComp) else getattr(node, "slice", None)]
        )
        for key in keys:
            if isinstance(key, ast.Tuple) and len(key.elts) == 2:
                yield from key.elts


def find_assigned(node: ast.Assign, names: set[str]) -> Iterator[ast.expr]:
    """What *node* assigns to *names*, one or several at once."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        else:
            pairs = [(target, node.value)]
        yield from (value for part, value in pairs if isinstance(part, ast.Name) and part.id in names)


def find_given(function: Function, names: set[str]) -> Iterator[ast.expr]:
    """What *function* assigns to *names*, takes for them from a literal, or answers under these keys."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from find_assigned(node, names)
        elif isinstance(node, ast.For | ast.comprehension):
            if not (isinstance(node.target, ast.Tuple) and isinstance(node.iter, ast.Tuple | ast.List)):
                continue
            for at, target in enumerate(node.target.elts):
                if isinstance(target, ast.Name) and target.id in names:
                    yield from (row.elts[at] for row in node.iter.elts if isinstance(row, ast.Tuple))
        elif isinstance(node, ast.Dict):
            yield from (
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and key.value in names & SAYING
            )
