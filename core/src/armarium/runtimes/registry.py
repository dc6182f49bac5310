"""Which runtimes the installed drivers need, which of them are installed, where, and how large."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.errors import Conflict, NotFound, ServiceError, Unavailable
from armarium.messages import Message
from armarium.runtimes.installer import NODE_FILES, install
from armarium.runtimes.places import MARKER, interpreter, read_marker, tree_size
from armarium_worker import Runtime

if TYPE_CHECKING:
    from armarium.engine import Engine

log = logging.getLogger("armarium.runtimes")

FINGERPRINT_DIGITS = 12


class InstalledRuntime(Message):
    """The isolated environment of a heavy engine, as it is on this machine. `outdated`: it is here in other versions than
    those needed now; `expected_size_mb`: about how much an installation takes, all of it downloaded.
    """

    name: str
    summary: str
    installed: bool
    outdated: bool
    size_bytes: int
    expected_size_mb: int
    installed_at: str | None
    versions: dict[str, str]
    drivers: list[str]


class Runtimes:
    """The runtimes of one engine, in its state folder: `runtimes/<name>/<fingerprint of requirements>/`.

    A driver class of any group names its runtime with a class attribute `runtime`; drivers that share one name the
    same. An installation is complete when its marker file exists, which is written last; a folder without a marker is a
    leftover of an interrupted installation and is replaced.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def folder(self) -> Path:
        """The folder of all runtimes."""
        return self._engine.settings.state_dir / "runtimes"

    def list_declared(self) -> dict[str, tuple[Runtime, tuple[str, ...]]]:
        """Return every runtime that a driver needs, with the names of those drivers.

        A driver that does not load is left out. Drivers that share a runtime import its value from one place, so two
        values of one name are a mistake of the later one (by name), which is left out too.
        """
        declared: dict[str, tuple[Runtime, tuple[str, ...]]] = {}
        groups = {group for plugin in self._engine.plugins.loaded for group in plugin.driver_groups}
        for group in sorted(groups):
            for name in self._engine.drivers.names(group):
                try:
                    runtime = getattr(self._engine.drivers.load(group, name), "runtime", None)
                except ServiceError:
                    continue
                if isinstance(runtime, Runtime):
                    declared_runtime, drivers = declared.get(runtime.name, (runtime, ()))
                    if declared_runtime == runtime:
                        declared[runtime.name] = (declared_runtime, (*drivers, name))
                    else:
                        log.warning("driver %s asks for another runtime called %s", name, runtime.name)
        return declared

    def get(self, name: str) -> Runtime:
        """Return the runtime called *name*; NotFound lists the existing ones."""
        declared = self.list_declared()
        if name not in declared:
            known_names = ", ".join(sorted(declared)) or "none"
            raise NotFound(
                f"No driver asks for a runtime called {name}. Known: {known_names}.", code="unknown_runtime"
            )
        return declared[name][0]

    def requirements_of(self, runtime: Runtime) -> Path:
        """Return the file of pinned versions that the runtime's package contains."""
        return self._find_shipped(runtime, runtime.requirements)

    def _find_shipped(self, runtime: Runtime, name: str) -> Path:
        spec = importlib.util.find_spec(runtime.package)
        places = list(spec.submodule_search_locations or ()) if spec else []
        for place in places:
            path = Path(place) / name
            if path.is_file():
                return path
        raise Unavailable(
            f"The package {runtime.package} does not contain {name}, which says what the runtime "
            f"{runtime.name} consists of. Install the package again.",
            code="runtime_broken",
        )

    def place_of(self, runtime: Runtime) -> Path:
        """Return the folder of an installation of exactly these requirements."""
        digest = hashlib.sha256(self.requirements_of(runtime).read_bytes())
        if runtime.node_packages:
            digest.update(self._node_packages_of(runtime, NODE_FILES[1]).read_bytes())
        return self.folder / runtime.name / digest.hexdigest()[:FINGERPRINT_DIGITS]

    def _node_packages_of(self, runtime: Runtime, name: str) -> Path:
        return self._find_shipped(runtime, f"{runtime.node_packages}/{name}")

    def marker_of(self, runtime: Runtime) -> dict[str, Any] | None:
        """Return the marker of a complete installation; None when there is none."""
        return read_marker(self.place_of(runtime))

    def python_of(self, name: str) -> Path:
        """Return the interpreter of an installed runtime; raises Conflict that says how to install it."""
        runtime = self.get(name)
        place = self.place_of(runtime)
        if read_marker(place) is None:
            raise Conflict(
                f"The runtime {name} is not installed on this machine. Install it with "
                f"`armarium runtime install {name}` (about {_megabytes(runtime.size_mb)}).",
                code="runtime_missing",
                runtime=name,
            )
        return interpreter(place)

    def is_installed(self, name: str) -> bool:
        """Return whether the runtime *name* is installed, in the versions its driver needs."""
        return self.marker_of(self.get(name)) is not None

    def missing(self, driver: Any) -> str | None:
        """Return why the class *driver* cannot work yet: its runtime is not installed. None where nothing is missing."""
        runtime = getattr(driver, "runtime", None)
        if not isinstance(runtime, Runtime):
            return None
        try:
            here = read_marker(self.place_of(runtime)) is not None
        except Unavailable as error:
            return error.detail
        return (
            None if here else f"It needs the runtime {runtime.name}: armarium runtime install {runtime.name}."
        )

    def list(self) -> Sequence[InstalledRuntime]:
        """Return every declared runtime, by name."""
        return [
            self._state(runtime, drivers) for _, (runtime, drivers) in sorted(self.list_declared().items())
        ]

    def _state(self, runtime: Runtime, drivers: tuple[str, ...]) -> InstalledRuntime:
        markers = {place: read_marker(place) for place in self._places(runtime.name)}
        try:
            marker = markers.get(self.place_of(runtime))
        except Unavailable as error:
            # A broken package must not hide the runtimes of others.
            log.warning("%s", error.detail)
            marker = None
        return InstalledRuntime(
            name=runtime.name,
            summary=runtime.summary,
            installed=marker is not None,
            outdated=marker is None and any(markers.values()),
            size_bytes=sum(int(marker.get("size_bytes", 0)) for marker in markers.values() if marker),
            expected_size_mb=runtime.size_mb,
            installed_at=marker.get("installed_at") if marker else None,
            versions=dict(marker.get("versions", {})) if marker else {},
            drivers=list(drivers),
        )

    def _places(self, name: str) -> Sequence[Path]:
        folder = self.folder / name
        return sorted(place for place in folder.iterdir() if place.is_dir()) if folder.is_dir() else []

    def install(
        self,
        name: str,
        on_progress: Callable[[int, int, str], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> InstalledRuntime:
        """Install the runtime *name* on this machine; does nothing when it is installed already.

        `on_progress(done, total, what)` counts packages. Takes minutes and the network; refused when the engine works
        offline. May be killed at any instant and called again.
        """
        runtime = self.get(name)
        if self._engine.settings.local_only and self.marker_of(runtime) is None:
            raise Conflict(
                f"The engine works offline (SERVICE_LOCAL_ONLY), so the runtime {name} cannot be downloaded. "
                "Start it without that setting once, install the runtime, and work offline again.",
                code="offline",
            )
        node = self._node_packages_of(runtime, NODE_FILES[0]).parent if runtime.node_packages else None
        install(
            runtime, self.place_of(runtime), self.requirements_of(runtime), node, on_progress, should_stop
        )
        for place in self._places(name):
            if place != self.place_of(runtime):
                shutil.rmtree(place, ignore_errors=True)
        return self._state(runtime, self.list_declared()[name][1])

    def remove(self, name: str) -> int:
        """Delete the runtime *name* and everything left of it; return the bytes that were freed."""
        if name not in self.list_declared() and not self._places(name):
            self.get(name)
        places = self._places(name)
        freed = sum(tree_size(place) for place in places)
        for place in places:
            (place / MARKER).unlink(missing_ok=True)
            shutil.rmtree(place, ignore_errors=True)
        return freed


def _megabytes(size: int) -> str:
    return f"{size / 1000:.1f} GB" if size >= 1000 else f"{size} MB"
