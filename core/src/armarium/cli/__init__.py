"""The command line: speaks to the running engine over HTTP, else runs one in this process for the command's time."""

from __future__ import annotations


def main() -> None:
    """The program `armarium`. Exit codes: 0 done, 1 refused (one sentence on stderr), 2 wrong usage."""
    from armarium.cli.program import build

    build()(prog_name="armarium")
