"""Paths that callers name: types for parameters, and the rules by which they are checked.

A parameter that names a file or folder of this machine is a `MaterialPath`, one that names a project a `PackagePath`.
The bus checks them before an action runs, routes before their body runs, and jobs when they read their arguments; so
any family, ours or third-party, declares the type and cannot forget the check.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    BinaryIO,
    ClassVar,
    Literal,
    get_args,
    get_type_hints,
    is_typeddict,
)

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from armarium.errors import BadRequest, Broken, Invalid, ProjectOutOfReach
from armarium.guard.closed_places import Identity, PathNotAllowed
from armarium.guard.places import look_over, open_plain
from armarium.principals import LOCAL_OWNER, Principal, caller, project_of_branch
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.engine import Engine

OWN_FILES_KNOWN_FOR = 5.0
"""Seconds for which the list of files kept by the engine and the projects is cached."""

SYSTEM = ("/dev", "/proc", "/sys")
"""Pseudo file systems: their entries are the machine, or this process."""


class NamedPath(str, ABC):
    """A path that a caller sent, as it was sent; `real` is where it leads, once checked."""

    described_as: ClassVar[str]
    """Its format in the OpenAPI description."""
    longest: ClassVar[int | None] = 4096
    _real: Path | None = None

    @property
    def real(self) -> Path:
        """The path with links resolved, which the caller may use. Raises Broken where it was not checked."""
        if self._real is None:
            raise Broken(
                f"A path parameter ({self.described_as}) was used before it was checked; its model was made by hand. "
                "Let the bus, a route or a job make it.",
                code="path_not_checked",
            )
        return self._real

    @abstractmethod
    def check(self, rules: PathRules, principal: Principal) -> Path:
        """Return where the path leads if *principal* may use that; else raise the refusal."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return core_schema.no_info_after_validator_function(
            cls,
            core_schema.str_schema(min_length=1, max_length=cls.longest),
            serialization=core_schema.to_string_ser_schema(),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "format": cls.described_as}


class MaterialPath(NamedPath):
    """A parameter that names a file or folder of this machine to read or write: pictures, layout files, a folder for
    copies. Checked for its caller before an action, a route or a job sees it; `real` is where it leads.
    """

    described_as = "material-path"

    def check(self, rules: PathRules, principal: Principal) -> Path:
        """Return where the path leads if *principal* may read and write there."""
        return rules.material(self, principal)


class NameOrMaterialPath(MaterialPath):
    """A parameter that is a name or the full path of a file of this machine, checked as a `MaterialPath` if it is a
    path.
    """

    described_as = "name-or-material-path"

    def check(self, rules: PathRules, principal: Principal) -> Path:
        """Like `MaterialPath.check` for a full path; a name needs no check."""
        return super().check(rules, principal) if os.path.isabs(self) else Path(self)


class PackagePath(NamedPath):
    """A parameter that names a project by the full path of its package. Checked for its caller before an action, a
    route or a job sees it.
    """

    described_as = "package-path"
    longest = None

    def check(self, rules: PathRules, principal: Principal) -> Path:
        """Return the package's path in its canonical spelling if *principal* may use it."""
        return rules.package(self, principal)


class FolderToOpen(NamedPath):
    """A folder that the owner grants to the engine; it need not lie within one that is granted already."""

    described_as = "folder-to-open"

    def check(self, rules: PathRules, principal: Principal) -> Path:
        """Return where the path leads, unless that is closed to every caller."""
        return rules.folder_to_open(self)


ShownPath = Annotated[str, Field(max_length=4096, json_schema_extra={"format": "shown-path"})]
"""Text that says where something was, for display only: nothing opens or writes what it names."""

RecipePath = Annotated[str, Field(max_length=4096, json_schema_extra={"format": "recipe-path"})]
"""A file within the folder `recipe` of the project, by its relative path: whatever opens it looks in that folder only.
"""

DECLARED = frozenset(
    {"material-path", "name-or-material-path", "package-path", "folder-to-open", "shown-path", "recipe-path"}
)


class PathRules:
    """Where callers' paths may lead, for one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._own: frozenset[Identity] = frozenset()
        self._listed_at = -OWN_FILES_KNOWN_FOR
        self._lock = threading.Lock()

    def check(self, value: Any, principal: Principal) -> None:
        """Check every named path in *value* (a model, a list, a path) for *principal*; raise the first refusal."""
        for path in _paths_in(value):
            path._real = path.check(self, principal)

    def check_for_caller(self, value: Any) -> None:
        """Like `check`, for the current caller; for what the engine reads on its own behalf, for the person at this
        machine.
        """
        asks = caller()
        self.check(value, asks.principal if asks is not None else LOCAL_OWNER)

    def material(self, text: str, principal: Principal) -> Path:
        """Return the path that *text* names with links resolved, whether or not it exists.

        Raises Invalid for what is not a full path; PathNotAllowed (403) outside the allowed roots, outside the folders
        granted to a token that has only those, and within what is closed to everyone.
        """
        path, real = _resolve_path(text)
        if not self._engine.allows(path) or any(real.is_relative_to(system) for system in SYSTEM):
            raise PathNotAllowed(
                f"{text} lies outside the folders this engine may read and write (your home folder, mounted volumes, "
                "the temporary folder), or is a link that leads out of them. Add its folder to SERVICE_LIBRARY_ROOTS.",
                text,
            )
        granted = principal.granted_folders
        if granted is not None and not any(real.is_relative_to(folder) for folder in granted):
            raise PathNotAllowed(
                f"{text} lies outside the folders granted to this token ({len(granted) or 'none'} so far). Upload the "
                "files, or have the owner grant a folder: armarium token folders.",
                text,
            )
        self._refuse_closed(text, real)
        return real

    def folder_to_open(self, text: str) -> Path:
        """Return where *text* leads, unless that is closed to every caller; it need not lie within an allowed root.

        Raises BadRequest for what is not a full path. Granting a folder reads nothing of it, so a token's folders do not
        matter.
        """
        try:
            real = _resolve_path(text)[1]
        except Invalid as refusal:
            raise BadRequest(refusal.detail, code="grant_refused") from None
        self._refuse_closed(text, real)
        return real

    def _refuse_closed(self, text: str, real: Path) -> None:
        try:
            look_over(real, self.is_closed)
        except PathNotAllowed as refusal:
            # Named as the caller named it: where a link leads is not disclosed.
            raise PathNotAllowed(refusal.detail.replace(str(real), text), text) from None
        except OSError as error:
            raise Invalid(f"{text} cannot be read: {error.strerror or error}.", code="bad_path") from None

    def package(
        self, text: str, principal: Principal, *, required: Literal["read", "write"] = "write"
    ) -> Path:
        """Return *text* as the canonical path of a package that *principal* may use (see `Libraries.check_path`).

        A token bound to projects may use those; one that only has granted folders may also use registered projects.
        """
        place = self._engine.libraries.check_path(text)
        if place.parent == self._engine.settings.state_dir and not place.is_dir():
            # The engine creates its global library itself; callers may name it once it exists.
            raise PathNotAllowed(f"{place} lies in the engine's state folder; choose another folder.", text)
        if not principal.reaches(str(place)):
            raise ProjectOutOfReach(str(place), required=required, role=principal.role)
        granted = principal.granted_folders
        if granted is None or principal.libraries is not None or self._is_known(place):
            return place
        real = place.resolve()
        if not any(real.is_relative_to(folder) for folder in granted):
            raise PathNotAllowed(
                f"{place.name} is not a project that this engine knows, and lies outside the folders granted to this "
                "token. Have the owner open it, or grant its folder: armarium token folders.",
                text,
            )
        return place

    def open_linked(self, target: Path) -> BinaryIO:
        """Return the *target* of a file that a project keeps as a link; refused when no caller could have named it."""
        if not self._engine.allows(target):
            raise PathNotAllowed(f"{target} lies outside the folders this engine may read.", str(target))
        return open_plain(target, self.is_closed)

    def is_closed(self, status: os.stat_result) -> bool:
        """Return whether a file is kept by the engine or a project, by whatever name it was opened."""
        with self._lock:
            if time.monotonic() - self._listed_at >= OWN_FILES_KNOWN_FOR:
                self._own = frozenset(_files_in([self._engine.settings.state_dir, *self._packages()]))
                self._listed_at = time.monotonic()
            return (status.st_dev, status.st_ino) in self._own

    def _packages(self) -> set[Path]:
        opened = {library.path for library in self._engine.libraries.open_now()}
        with self._engine.state.read() as conn:
            rows = raw_of(conn).execute("SELECT path FROM library_known").fetchall()
        return opened | {Path(path) for (path,) in rows}

    def _is_known(self, place: Path) -> bool:
        """Return whether it is a project that was opened here, or a branch beside one."""
        return not {place, Path(project_of_branch(str(place)))}.isdisjoint(self._packages())


def _resolve_path(text: str) -> tuple[Path, Path]:
    """Return (the full path that *text* is, where it leads); raises Invalid for what is not a path."""
    if "\0" in text:
        raise Invalid("A path holds no null character.", code="bad_path")
    path = Path(os.path.expanduser(text))
    if not path.is_absolute():
        raise Invalid(f"{text!r} is not a full path; name it from the root of the disk.", code="bad_path")
    # `Path.resolve` raises for a link that leads to itself; it is kept unresolved here, and opening it is refused.
    return path, Path(os.path.realpath(path))


def _files_in(folders: list[Path]) -> Iterator[Identity]:
    """Return device and inode of the files within *folders*; links are not followed."""
    for folder in folders:
        try:
            device = folder.stat().st_dev
        except OSError:
            continue
        waiting: list[str | Path] = [folder]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            yield device, entry.inode()
            except OSError:
                continue


def _paths_in(value: Any) -> Iterator[NamedPath]:
    """Yield the named paths in a value, at any depth; types that can contain none are skipped."""
    if isinstance(value, NamedPath):
        yield value
    elif isinstance(value, BaseModel):
        for name in _path_fields(type(value)):
            yield from _paths_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _paths_in(key)
            yield from _paths_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _paths_in(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _paths_in(getattr(value, field.name))


@lru_cache(maxsize=4096)
def _path_fields(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(name for name, info in model.model_fields.items() if holds_paths(info.annotation))


def holds_paths(annotation: Any, within: frozenset[Any] = frozenset()) -> bool:
    """Return whether a value of the type *annotation* may contain a named path."""
    if isinstance(annotation, type):
        if issubclass(annotation, NamedPath):
            return True
        if annotation in within:
            return False
        inner: list[Any]
        if issubclass(annotation, BaseModel):
            inner = [info.annotation for info in annotation.model_fields.values()]
        elif is_dataclass(annotation) or is_typeddict(annotation):
            inner = list(get_type_hints(annotation).values())
        else:
            inner = []
        if any(holds_paths(kind, within | {annotation}) for kind in inner):
            return True
    return any(holds_paths(kind, within) for kind in get_args(getattr(annotation, "__value__", annotation)))


PATH_WORDS = frozenset(
    {"path", "paths", "folder", "folders", "file", "files", "directory", "directories", "dir", "destination"}
)
"""Last words of the names of parameters that name a place on the machine."""


def undeclared_paths(schema: Mapping[str, Any]) -> list[str]:
    """Return the plain strings in a JSON Schema of parameters that are named like a path but not declared as one."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})

    def leaves(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        yield node
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            for inner in node.get(key, ()):
                yield from leaves(inner)
        if isinstance(node.get("items"), dict):
            yield from leaves(node["items"])

    names = []
    for part in (schema, *definitions.values()):
        for name, details in part.get("properties", {}).items():
            kinds = [(leaf.get("type"), leaf.get("format")) for leaf in leaves(details)]
            # What may be bytes is a file's content, not its path.
            is_text = any(kind == "string" and form not in DECLARED for kind, form in kinds)
            if (
                is_text
                and ("string", "binary") not in kinds
                and name.rpartition("_")[2].casefold() in PATH_WORDS
            ):
                names.append(name)
    return sorted(set(names))
