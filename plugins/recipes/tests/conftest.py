"""Fixtures of the tests of recipes: an engine with every family, and a person at work."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
