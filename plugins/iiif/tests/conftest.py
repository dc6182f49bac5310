"""What the tests of IIIF share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def page_document(do: Callable[..., dict[str, Any]]) -> str:
    """A page without a picture; its id."""
    return str(do("document.create", {"name": "0001.jpg", "doc_type": "page"})["id"])
