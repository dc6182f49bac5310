"""Fixtures for the tests of IIIF."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def page_document(do: Callable[..., dict[str, Any]]) -> str:
    """The id of a page without a picture."""
    return str(do("document.create", {"name": "0001.jpg", "doc_type": "page"})["id"])
