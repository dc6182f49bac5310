"""Loads the published schemas from the folder of real files; they are never copied into the project.

In CI (where the variable CI is set) with a folder `shared` beside the checkout, a missing schema fails its
tests; elsewhere they are skipped, and the reason names what is missing.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

CHECKOUT = Path(__file__).resolve().parents[3]
_XLINK = "http://www.loc.gov/standards/xlink/xlink.xsd"


def shared_data() -> Path:
    """Return the folder of real files: ARMARIUM_SHARED_DATA, else `shared/data` beside the checkout."""
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    return Path(answer) if answer else CHECKOUT.parent / "shared" / "data"


def schema_path(name: str, data: Path | None = None) -> Path:
    """Return the path of a schema; skip the test, or fail it in CI, if it is missing."""
    data = data or shared_data()
    path = data / "schemas" / name
    if not path.is_file():
        missing = (
            f"the published schema {name} is missing: it belongs into the folder schemas of the real files, "
            "shared/data/schemas beside the checkout (ARMARIUM_SHARED_DATA names another shared/data)"
        )
        if os.environ.get("CI") and data.parent.is_dir():
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@cache
def xsd(name: str) -> etree.XMLSchema:
    """Return an XML Schema by its file name."""
    path = schema_path(name)
    # The ALTO schemas import the XLink schema by URL; it is read from the folder, nothing is fetched.
    text = path.read_text("utf-8").replace(f'"{_XLINK}"', '"xlink.xsd"')
    return etree.XMLSchema(etree.fromstring(text.encode(), base_url=path.as_uri()))


@cache
def rng(name: str) -> etree.RelaxNG:
    """Return a RELAX NG schema by its file name."""
    return etree.RelaxNG(etree.parse(str(schema_path(name))))
