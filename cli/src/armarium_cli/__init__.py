"""The command line: speaks to the running engine over HTTP, else runs one in this process for the duration of the
command.
"""

from __future__ import annotations


def main() -> None:
    """The program `armarium`. Exit codes: 0 done, 1 refused, 2 wrong usage (each with one sentence on stderr), 130
    interrupted from the keyboard, 141 the reader of the output closed the pipe.
    """
    import os
    import sys

    # Otherwise pydantic reads the entry points of everything installed, and a malformed one stops every command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

    # Imported late, after that variable is set.
    from armarium_cli.program import build

    # A shell may start a program without an output (`>&-`); discard what it prints then.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    build()(prog_name="armarium")
