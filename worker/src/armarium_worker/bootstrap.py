"""The first file a worker process runs, by its path: makes the named packages importable, then serves the target.

It is started by a runtime's own interpreter, in which neither this distribution nor the reader is installed;
it needs the standard library only and imports nothing of Armarium before the packages are in place.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import importlib.util
import ipaddress
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class GivenPackages:
    """A finder for a few top-level packages (or modules) that the engine named; it ignores everything else."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders

    def find_spec(
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        folder = self.folders.get(name)
        if folder is None:
            return None
        if folder.suffix == ".py":
            return importlib.util.spec_from_file_location(name, folder)
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def forbid_network() -> None:
    """Prevent this process from reaching another machine: the engine's egress gate is the only way out."""

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "socket.connect":
            return
        address = arguments[1]
        if not isinstance(address, tuple):
            return
        host = str(address[0])
        try:
            local = host == "localhost" or ipaddress.ip_address(host.split("%")[0]).is_loopback
        except ValueError:
            local = False
        if not local:
            raise PermissionError(
                "A worker process does not reach the network; models are downloaded by the engine beforehand."
            )

    sys.addaudithook(check)


def main(arguments: list[str]) -> int:
    """Parse the command line, prepare the interpreter, serve until the engine closes the pipe."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", required=True)
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--network", action="store_true")
    options = parser.parse_args(arguments)
    if options.nice and hasattr(os, "nice"):
        os.nice(options.nice)
    if not options.network:
        forbid_network()
    folders = {name: Path(folder) for name, _, folder in (entry.partition("=") for entry in options.package)}
    folders["armarium_worker"] = Path(__file__).parent
    sys.meta_path.insert(0, GivenPackages(folders))
    from armarium_worker.server import EXIT_CANNOT_START, WorkerContext, serve, take_over_pipes

    pipes = take_over_pipes()
    module_name, _, attribute = options.target.partition(":")
    try:
        service = getattr(importlib.import_module(module_name), attribute)
        handlers = service.handlers(WorkerContext(threads=options.threads, device=options.device))
    except Exception as error:
        print(
            f"armarium-worker: {options.target} cannot be loaded: {type(error).__name__}: {error}",
            file=sys.stderr,
        )
        return EXIT_CANNOT_START
    return serve(handlers, pipes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
