"""Deprecated since 0.3: what plugins' commands may use is `armarium_cli.api`. Its names are looked up there, until 0.4, for
plugins that were written before the command line became a distribution of its own.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    value = getattr(importlib.import_module("armarium_cli.api"), name)
    warnings.warn(
        f"armarium.commandline has become armarium_cli.api; import {name} from there.",
        DeprecationWarning,
        stacklevel=2,
    )
    return value
