"""Extension points: what a family asks, who answers, and how a wrong answer is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import pytest

from armarium.plugin import Plugin, hookimpl, hookspec
from armarium.plugins.points import fits
from armarium.plugins.registry import PluginRegistry
from armarium_testing.answers import answering


@runtime_checkable
class Stamp(Protocol):
    """What the stamps of a desk have."""

    kind: str

    def press(self) -> str: ...


class Seal:
    """A stamp."""

    kind = "seal"

    def press(self) -> str:
        return "pressed"


@hookspec
def armarium_desk_stamps() -> Sequence[Stamp]:
    """State the stamps."""


@hookspec
def armarium_desk_count(page: str) -> int:
    """Count what is on a page."""


@hookspec
def armarium_desk_owner(page: str) -> str | None:
    """Return whose page it is; the first answer wins."""


def module_of(*functions: Callable[..., Any]) -> ModuleType:
    module = ModuleType("desk_hookspecs")
    for function in functions:
        setattr(module, function.__name__, function)
    return module


DESK = Plugin(
    name="desk",
    summary="Asks others",
    hookspecs=module_of(armarium_desk_stamps, armarium_desk_count, armarium_desk_owner),
)


def guest(name: str = "guest", **answers: Callable[..., Any]) -> Plugin:
    return Plugin(name=name, summary="Answers", hooks=answering(**answers))


def settle(*plugins: Plugin) -> PluginRegistry:
    registry = PluginRegistry()
    for plugin in plugins:
        registry.add(plugin)
    registry.settle()
    return registry


def refusals(*plugins: Plugin) -> dict[str, str]:
    return {refused.name: refused.why for refused in settle(*plugins).refused}


def test_every_plugin_is_asked_in_the_order_in_which_they_are_loaded() -> None:
    points = settle(
        DESK,
        guest("one", armarium_desk_count=lambda page: len(page), armarium_desk_owner=lambda: None),
        guest("two", armarium_desk_count=lambda: 7, armarium_desk_owner=lambda page: page.upper()),
        guest("three", armarium_desk_owner=lambda: "nobody"),
    ).points
    assert points.ask(armarium_desk_count, "abc") == [3, 7]
    assert points.ask(armarium_desk_count, page="abcd") == [4, 7]
    assert points.ask_first(armarium_desk_owner, "abc") == "ABC"
    assert [points.has_answer(one) for one in (armarium_desk_count, armarium_desk_stamps)] == [True, False]


def test_a_point_without_arguments_is_asked_once_and_its_answers_are_one_list() -> None:
    asked: list[str] = []

    def state(name: str) -> Callable[[], list[Seal]]:
        return lambda: asked.append(name) or [Seal()]  # type: ignore[func-returns-value]

    points = settle(DESK, guest("one", armarium_desk_stamps=state("one")), guest("two")).points
    assert [stamp.press() for stamp in points.collect(armarium_desk_stamps)] == ["pressed"]
    assert len(points.collect(armarium_desk_stamps)) == 1
    assert asked == ["one"]


def test_a_misspelt_hook_refuses_the_plugin_and_names_the_one_that_was_meant() -> None:
    assert refusals(DESK, guest(armarium_desk_stamp=lambda: ())) == {
        "guest": "It implements armarium_desk_stamp, which is not a hook of this engine; armarium_desk_stamps is one. Where "
        "the plugin that asks may be missing, mark it @hookimpl(optionalhook=True)."
    }


def test_a_hook_of_a_family_that_is_not_here_is_let_be_only_where_the_plugin_can_do_without_it() -> None:
    class Needing:
        @hookimpl
        def armarium_search_kinds(self) -> list[object]:
            return []

    optional = guest("optional", armarium_search_kinds=lambda: ())
    needing = Plugin(name="needing", summary="Needs search", hooks=Needing())
    assert list(refusals(DESK, optional, needing)) == ["needing"]


def test_an_argument_that_the_point_does_not_give_refuses_the_plugin() -> None:
    why = refusals(DESK, guest(armarium_desk_count=lambda sheet: 1))["guest"]
    assert why.startswith("Its hooks do not fit:")
    assert "sheet" in why


@pytest.mark.parametrize(
    "answer",
    ["abc", [Seal(), "abc"], [Seal], None, 3, {"kind": "seal"}],
    ids=["text", "text among seals", "class", "nothing", "number", "mapping"],
)
def test_an_answer_of_another_type_refuses_the_plugin(answer: object) -> None:
    kind = type(answer).__name__
    assert refusals(DESK, guest(armarium_desk_stamps=lambda: answer)) == {
        "guest": f"armarium_desk_stamps() answered a value of type {kind} that is no Sequence[Stamp]."
    }


def test_a_hook_that_fails_when_the_engine_is_assembled_refuses_the_plugin() -> None:
    def fail() -> list[Stamp]:
        raise RuntimeError("no ink")

    why = refusals(DESK, guest(armarium_desk_stamps=fail))["guest"]
    assert why == "armarium_desk_stamps() failed: RuntimeError: no ink"


def test_a_wrong_answer_at_work_is_left_out_and_recorded_as_the_plugins_fault() -> None:
    registry = settle(
        DESK,
        guest("wrong", armarium_desk_count=lambda: "three"),
        guest("right", armarium_desk_count=lambda: 3),
    )
    assert registry.points.ask(armarium_desk_count, "abc") == [3]
    assert [(fault.name, fault.why) for fault in registry.faults] == [
        ("wrong", "armarium_desk_count() answered a value of type str that is no int.")
    ]


def test_a_point_bears_the_name_of_its_family_and_says_what_is_answered() -> None:
    @hookspec
    def armarium_other_stamps() -> Sequence[Stamp]:
        """Not the desk's."""

    @hookspec
    def armarium_desk_nothing():
        """Says nothing."""

    strange = Plugin(name="desk", summary="x", hookspecs=module_of(armarium_other_stamps))
    silent = Plugin(name="desk", summary="x", hookspecs=module_of(armarium_desk_nothing))
    empty = Plugin(name="desk", summary="x", hookspecs=module_of())
    assert "does not begin with armarium_desk_" in refusals(strange)["desk"]
    assert "does not say what is answered" in refusals(silent)["desk"]
    assert "Its hookspecs cannot be used" in refusals(empty)["desk"]


def test_a_registry_that_takes_one_more_plugin_asks_it_too() -> None:
    registry = settle(DESK, guest("one", armarium_desk_count=lambda: 1))
    registry.add(guest("two", armarium_desk_count=lambda: 2))
    registry.settle()
    assert registry.refused == []
    assert registry.points.ask(armarium_desk_count, "abc") == [1, 2]


def test_a_plugin_that_leaves_is_asked_no_more() -> None:
    registry = settle(DESK, guest(armarium_desk_count=lambda: 1))
    registry.points.leave(registry.loaded[1])
    assert registry.points.ask(armarium_desk_count, "abc") == []


def test_every_point_is_described_with_its_owner_and_those_who_answer() -> None:
    described = settle(DESK, guest(armarium_desk_count=lambda: 1)).points.describe()
    assert [(point.owner, point.name, point.answered_by) for point in described] == [
        ("engine", "armarium_plugin", []),
        ("engine", "armarium_step_committed", []),
        ("desk", "armarium_desk_count", ["guest"]),
        ("desk", "armarium_desk_owner", []),
        ("desk", "armarium_desk_stamps", []),
    ]
    assert described[2].signature == "(page: str) -> int"
    assert described[2].explanation == "Count what is on a page."


@pytest.mark.parametrize(
    ("value", "kind", "right"),
    [
        (1, Any, True), (None, None, True), (1, None, False), (None, int | None, True), ("a", int | None, False),
        ([1], Sequence[int], True), (["a"], Sequence[int], False), ("ab", Sequence[str], False),
        ({"a": 1}, Mapping[str, int], True), ({"a": "b"}, Mapping[str, int], False), ([], Mapping[str, int], False),
        ({"a": len}, Mapping[str, Callable[..., int] | int], True), ({"a": "b"}, Mapping[str, Callable[..., int] | int], False),
        ((1, "a"), tuple[int, str], True), ((1, 2), tuple[int, str], False), ((1,), tuple[int, str], False),
        ((1, 2, 3), tuple[int, ...], True), ((1, "a"), tuple[int, ...], False),
        (iter([1]), Iterator[int], True), ([1], Iterator[int], False),
    ],
)  # fmt: skip
def test_a_value_fits_its_type(value: object, kind: Any, right: bool) -> None:
    assert fits(value, kind) is right


def test_an_answer_that_nobody_asks_for_is_shown() -> None:
    shown, *_ = settle(DESK, guest(armarium_serch_kinds=lambda: ())).points.describe()
    assert (shown.owner, shown.name, shown.answered_by) == ("nobody here", "armarium_serch_kinds", ["guest"])
