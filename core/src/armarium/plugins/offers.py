"""What the installed distributions offer the engine: their entry points, their owners, and a fingerprint of each."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata as distributions
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

PLUGINS = "armarium.plugins"
COMMANDS = "armarium.commands"
OURS = "armarium."
"""The prefix of our groups of entry points."""

META = "armarium-engine"
"""The distribution that pins every first-party one."""


@dataclass(frozen=True)
class Offer:
    """One distribution that provides plugins, drivers or commands."""

    name: str
    entries: tuple[EntryPoint, ...]
    first_party: bool = False
    """Whether it comes with this release of Armarium."""
    requires: frozenset[str] = frozenset()
    """The normalised names of the distributions it needs."""
    fault: str | None = None
    """Why its list of entry points cannot be read."""
    stamp: tuple[str, ...] = field(default=(), repr=False)
    """Its version, and the hashes of its files where an installer recorded them."""

    @property
    def key(self) -> str:
        """Its normalised name."""
        return normalise_name(self.name)

    def entries_of(self, group: str) -> list[EntryPoint]:
        """Return its entry points of *group*."""
        return [entry for entry in self.entries if entry.group == group]

    @cached_property
    def fingerprint(self) -> str:
        """Return a text that changes whenever the distribution may behave differently: another version, another file,
        an edit in place.
        """
        stamps = [
            self.name,
            *self.stamp,
            *(f"{entry.group} {entry.name} {entry.value}" for entry in self.entries),
        ]
        for package in sorted({entry.module.partition(".")[0] for entry in self.entries}):
            stamps += package_stamp(package)
        return hashlib.sha256("\n".join(stamps).encode("utf-8", "surrogatepass")).hexdigest()


def normalise_name(requirement: str) -> str:
    """Return the normalised name in a requirement such as `Armarium_Core==0.1.0; extra`."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]).lower()


def unit_of(entry: EntryPoint) -> str:
    """Return the name of an entry point in verdicts."""
    return f"{entry.group}:{entry.name}"


def find_offers(path: Sequence[str] | None = None) -> list[Offer]:
    """Return the distributions on *path* (the interpreter's own) that offer anything: ours first, then by name.

    In this order, nobody can take a name from us by being found earlier.
    """
    ours = _first_party()
    offers_by_key: dict[str, Offer] = {}
    for distribution in distributions.distributions(path=list(sys.path if path is None else path)):
        offer = _offer(distribution, ours)
        if offer is not None:
            offers_by_key.setdefault(offer.key, offer)
    return sorted(offers_by_key.values(), key=lambda offer: (not offer.first_party, offer.key))


def _first_party() -> dict[str, str]:
    """Return the distributions of this release of Armarium, each with its version: those that its own one pins."""
    try:
        release = distributions.distribution(META)
    except distributions.PackageNotFoundError:
        return {}
    pinned = {
        normalise_name(line): line.partition(";")[0].partition("==")[2].strip()
        for line in release.requires or ()
    }
    return {META: release.version, **pinned}


def _offer(distribution: distributions.Distribution, ours: dict[str, str]) -> Offer | None:
    try:
        text = distribution.read_text("entry_points.txt")
    except (OSError, UnicodeError):
        return None
    if not text or OURS not in text:
        return None
    name = _name_of(distribution)
    try:
        # Sorted, so that the result does not depend on the order in a file.
        entries = tuple(
            sorted(
                (entry for entry in distribution.entry_points if entry.group.startswith(OURS)),
                key=lambda entry: (entry.group, entry.name),
            )
        )
        for entry in entries:
            _ = entry.module
        needs = frozenset(map(normalise_name, distribution.requires or ()))
        stamp = (str(distribution.version), distribution.read_text("RECORD") or "")
    except Exception as error:
        return Offer(
            name, (), fault=f"Its list of entry points cannot be read ({type(error).__name__}: {error})."
        )
    # One of ours that another release left behind is tried, like anybody's.
    first_party = ours.get(normalise_name(name)) == distribution.version
    return Offer(name, entries, first_party, needs, stamp=stamp) if entries else None


def _name_of(distribution: Any) -> str:
    try:
        name = distribution.name
    except Exception:
        name = None
    return name or Path(str(getattr(distribution, "_path", "a distribution without a name"))).stem


def package_stamp(package: str) -> list[str]:
    """Return each file of a top-level package with its size and time; the package itself is not imported."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return [package]
    if spec is None:
        return [package]
    stamps: list[str] = []
    for place in spec.submodule_search_locations or ():
        for folder, folders, files in os.walk(place):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            stamps += [_stat(os.path.join(folder, name)) for name in sorted(files)]
    if not spec.submodule_search_locations and spec.origin:
        stamps.append(_stat(spec.origin))
    return stamps


def _stat(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"


_importing = threading.RLock()


@contextmanager
def quietly() -> Iterator[None]:
    """Send what third-party code prints in the block to stderr, and give it empty input.

    So an answer in JSON stays JSON, and nothing waits for a line that a person should type.
    """
    with _importing, redirect_stdout(sys.stderr), open(os.devnull, encoding="utf-8") as nothing:
        before, sys.stdin = sys.stdin, nothing
        try:
            yield
        finally:
            sys.stdin = before


def commands_of(loaded: Any) -> Any:
    """Return the commands that an entry point names: a Typer, or what a function builds."""
    return loaded if hasattr(loaded, "registered_commands") else loaded()
