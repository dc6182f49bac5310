"""Routes that are made when they are first asked for: until then they have only a path, methods and a name.

What FastAPI derives from an endpoint (parameters, body, answer, their adapters) takes 2 ms a route; an engine starts with
hundreds of them, and most are never asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import RLock
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import compile_path

_MAKING = RLock()

_OF_THE_PATH = ("path_regex", "path_format", "param_convertors")
"""What comes of the path alone, and is not needed to choose the route."""


class DeferredRoute(APIRoute):
    """A route whose *describe* returns what FastAPI's own route is made from; *finish* is called with the made route."""

    def __init__(
        self,
        path: str,
        methods: Collection[str],
        name: str,
        describe: Callable[[], Mapping[str, Any]],
        finish: Callable[[APIRoute], None],
    ) -> None:
        self.path, self.methods, self.name = path, set(methods), name
        self._describe: Callable[[], Mapping[str, Any]] | None = describe
        self._finish = finish

    @property
    def is_made(self) -> bool:
        """Whether somebody has asked for more than its path and methods."""
        return self._describe is None

    def __getattr__(self, name: str) -> Any:
        if name in _OF_THE_PATH:
            self.path_regex, self.path_format, self.param_convertors = compile_path(self.path)
            return self.__dict__[name]
        with _MAKING:
            # Another thread may have made it meanwhile, and what `finish` asks for is there already.
            if name not in self.__dict__ and self._describe is not None:
                describe, self._describe = self._describe, None
                try:
                    super().__init__(self.path, methods=self.methods, name=self.name, **describe())
                    self._finish(self)
                except BaseException:
                    self._describe = describe
                    raise
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None
