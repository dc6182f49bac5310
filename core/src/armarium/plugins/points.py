"""Extension points: hooks that families offer to other plugins; collected, checked, and asked through pluggy.

A family offers points in a module of hook specifications (`Plugin.hookspecs`); others answer with functions marked with
`hookimpl`. pluggy keeps both, compares their arguments and calls the answers. What is checked here besides is that every
answer is to a point that exists, and that it is of the type that the point states.
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import pluggy

from armarium.plugin import Plugin
from armarium.plugins import hookspecs

P = ParamSpec("P")
T = TypeVar("T")

FIRST = "armarium_plugin"
"""The hook that every plugin answers."""


class DoesNotFit(Exception):
    """Why a plugin cannot be joined: a sentence."""


@dataclass(frozen=True)
class Point:
    """One extension point, as `armarium plugins --points` shows it."""

    name: str
    owner: str
    """The plugin that asks; `engine` for those of the core."""
    signature: str
    explanation: str
    answered_by: list[str]


class ExtensionPoints:
    """The points that the plugins of one engine offer, and the answers to them."""

    def __init__(self, note_fault: Callable[[str, str], None]) -> None:
        self.manager = pluggy.PluginManager("armarium")
        self.manager.add_hookspecs(hookspecs)
        self._note_fault = note_fault
        self._owners: dict[str, str] = {FIRST: "engine", "armarium_step_committed": "engine"}
        self._callers: dict[str, list[tuple[Plugin, Any]]] = {}
        self._stated: dict[tuple[str, str], Any] = {}
        """What plugins answer to points without arguments, which are asked once."""
        self._loaded: list[Plugin] = []

    def offer(self, plugin: Plugin) -> None:
        """Take the points of *plugin*, once. Raises DoesNotFit."""
        if plugin.hookspecs is None or plugin.name in self._owners.values():
            return
        try:
            self.manager.add_hookspecs(plugin.hookspecs)
        except Exception as error:
            raise DoesNotFit(f"Its hookspecs cannot be used: {error}") from error
        for name in dir(plugin.hookspecs):
            if self.manager.parse_hookspec_opts(plugin.hookspecs, name) is None:
                continue
            if not name.startswith(f"armarium_{plugin.name}_"):
                raise DoesNotFit(f"Its extension point {name} does not begin with armarium_{plugin.name}_.")
            self._owners[name] = plugin.name
            try:
                answer_type(getattr(plugin.hookspecs, name))
            except Exception as error:
                raise DoesNotFit(
                    f"Its extension point {name} does not say what is answered: {error}"
                ) from error

    def join(self, plugin: Plugin) -> None:
        """Take the answers of *plugin*, once, and ask it those that need no arguments. Raises DoesNotFit."""
        answers = hooks_of(plugin)
        if answers is None or self.manager.has_plugin(plugin.name):
            return
        try:
            self.manager.register(answers, name=plugin.name)
        except Exception as error:
            raise DoesNotFit(f"Its hooks do not fit: {error}") from error
        for hook in self.manager.get_hookcallers(answers) or ():
            is_optional = any(i.optionalhook for i in hook.get_hookimpls() if i.plugin is answers)
            if hook.name in self._owners:
                if hook.name != FIRST and hook.spec is not None and not hook.spec.argnames:
                    self._stated[hook.name, plugin.name] = self._state(plugin, hook.name, answers)
            elif not (is_optional and self._is_absent(hook.name)):
                close = difflib.get_close_matches(hook.name, self._owners, 1)
                raise DoesNotFit(
                    f"It implements {hook.name}, which is not a hook of this engine"
                    + (f"; {close[0]} is one." if close else ".")
                    + " Where the plugin that asks may be missing, mark it @hookimpl(optionalhook=True)."
                )

    def leave(self, plugin: Plugin) -> None:
        """Forget the answers of *plugin*; its points stay known."""
        if self.manager.has_plugin(plugin.name):
            self.manager.unregister(name=plugin.name)
        self._callers.clear()

    def settle(self, loaded: list[Plugin]) -> None:
        """Ask from now on in the order of *loaded*."""
        self._loaded = loaded
        self._callers.clear()

    def ask(self, point: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> list[T]:
        """Return what each plugin answers to *point*, in the order in which they are loaded. Exceptions are the caller's;
        an answer of another type than the point states is left out and recorded as the plugin's fault.
        """
        return list(self._answers(point, arguments, named))

    def ask_first(self, point: Callable[P, T | None], *arguments: P.args, **named: P.kwargs) -> T | None:
        """Like `ask`, until a plugin answers something; None if none does."""
        return next(self._answers(point, arguments, named), None)

    def collect(self, point: Callable[[], Iterable[T]]) -> list[T]:
        """Return all that the plugins state at a point without arguments, one list."""
        return [item for answer in self._answers(point, (), {}) for item in answer]

    def has_answer(self, point: Callable[..., object]) -> bool:
        """Return whether some plugin answers *point*."""
        return bool(self.callers(point))

    def callers(self, point: Callable[..., object]) -> list[tuple[Plugin, Callable[..., Any]]]:
        """Return the plugins that answer *point*, in order, each with pluggy's caller of its answer alone: so an answer,
        or an error, has a name.
        """
        name = point.__name__
        if name not in self._callers:
            hook = self.manager.hook.__dict__.get(name)
            answering = (
                {} if hook is None else {impl.plugin_name: impl.plugin for impl in hook.get_hookimpls()}
            )
            self._callers[name] = [
                (plugin, self._only(name, answering[plugin.name]))
                for plugin in self._loaded
                if plugin.name in answering
            ]
        return self._callers[name]

    def describe(self) -> list[Point]:
        """Return every point with those who answer it, the engine's first, after answers to points that nobody here asks."""
        unasked = [
            Point(name, "nobody here", "", "No plugin here asks this.", sorted(i.plugin_name for i in impls))
            for name, hook in vars(self.manager.hook).items()
            if name not in self._owners and (impls := hook.get_hookimpls())
        ]
        return unasked + [
            Point(
                name,
                owner,
                # Annotations are texts, and shown in quotes.
                str(inspect.signature(function)).replace("'", ""),
                inspect.getdoc(function) or "",
                sorted(impl.plugin_name for impl in self.manager.hook.__dict__[name].get_hookimpls()),
            )
            for name, owner in sorted(self._owners.items(), key=lambda item: (item[1] != "engine", item[0]))
            for function in [self.manager.hook.__dict__[name].spec.function]
        ]

    def _answers(
        self, point: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Iterator[Any]:
        name = point.__name__
        named = {**dict(zip(point.__code__.co_varnames, arguments, strict=False)), **named}
        for plugin, call in self.callers(point):
            if (name, plugin.name) in self._stated:
                yield self._stated[name, plugin.name]
                continue
            # A plugin that answers None has nothing to say: pluggy leaves it out.
            for answer in call(**named):
                if fits(answer, answer_type(point), deep=False):
                    yield answer
                else:
                    self._note_fault(plugin.name, _describe_wrong(name, answer, point))

    def _only(self, name: str, answers: object) -> Any:
        others = [plugin for plugin in self.manager.get_plugins() if plugin is not answers]
        return self.manager.subset_hook_caller(name, others)

    def _state(self, plugin: Plugin, name: str, answers: object) -> Any:
        try:
            (answer,) = self._only(name, answers)() or (None,)
        except Exception as error:
            raise DoesNotFit(f"{name}() failed: {type(error).__name__}: {error}") from error
        function = self.manager.hook.__dict__[name].spec.function
        if not fits(answer, answer_type(function)):
            raise DoesNotFit(_describe_wrong(name, answer, function))
        return answer

    def _is_absent(self, name: str) -> bool:
        """Return whether the plugin that would own a point is not here, as far as its name tells."""
        return not any(name.startswith(f"armarium_{owner}_") for owner in {*self._owners.values()})


def plugin_of(module: object) -> Plugin:
    """Return what *module* contributes, asked through pluggy by itself. Raises DoesNotFit."""
    alone = pluggy.PluginManager("armarium")
    alone.add_hookspecs(hookspecs)
    try:
        # The other hooks of the module are joined when all points are known.
        alone.register(SimpleNamespace(armarium_plugin=getattr(module, FIRST, None)))
    except Exception as error:
        raise DoesNotFit(f"Its hooks do not fit: {error}") from error
    if not alone.hook.armarium_plugin.get_hookimpls():
        raise DoesNotFit("It has no armarium_plugin(), the hook that returns what it contributes.")
    try:
        answers = alone.hook.armarium_plugin()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise DoesNotFit(f"armarium_plugin() failed: {type(error).__name__}: {error}") from error
    if len(answers) != 1 or not isinstance(answers[0], Plugin):
        raise DoesNotFit("armarium_plugin() did not return a Plugin.")
    return answers[0]


def hooks_of(plugin: Plugin) -> object | None:
    """Return the module or object that holds the answers of *plugin*."""
    return sys.modules.get(plugin.hooks) if isinstance(plugin.hooks, str) else plugin.hooks


def answer_type(point: Callable[..., Any]) -> Any:
    """Return the type that a point says is answered."""
    holder = SimpleNamespace(__annotations__={"return": point.__annotations__["return"]})
    return get_type_hints(holder, point.__globals__)["return"]


def fits(value: Any, kind: Any, deep: bool = True) -> bool:
    """Return whether *value* is of the type *kind*; with *deep*, also what a collection holds."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin in (Union, UnionType):
        return any(fits(value, option, deep) for option in inner)
    if not isinstance(value, origin or kind) or (origin is not None and isinstance(value, str | bytes)):
        return False
    if isinstance(value, type) and getattr(kind, "_is_protocol", False):
        # A class has what its instances have, and is none.
        return False
    if not deep or not inner or not isinstance(value, Collection):
        return True
    if isinstance(value, Mapping):
        return all(fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items())
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(fits, value, inner))
    return all(fits(item, inner[0]) for item in value)


def _describe_wrong(name: str, answer: object, point: Callable[..., Any]) -> str:
    return f"{name}() answered a value of type {type(answer).__name__} that is no {point.__annotations__['return']}."
