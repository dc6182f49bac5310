"""The command line: speaks to the running engine over HTTP, else runs one in this process for the command's time."""

from __future__ import annotations


def main() -> None:
    """The program `armarium`. Exit codes: 0 done, 1 refused, 2 wrong usage (each one sentence on stderr), 130 stopped from
    the keyboard, 141 nobody reads the answer any more."""
    import os
    import sys

    # Else pydantic reads the entry points of everything installed, and one that is malformed stops every command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

    from armarium.cli.program import build

    # A shell may start a program without an output (`>&-`); what it says then goes nowhere.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    build()(prog_name="armarium")
