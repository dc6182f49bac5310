"""Names of files that every system accepts."""

from __future__ import annotations

import pytest

from armarium.file_names import fitting_name, plain_name


@pytest.mark.parametrize(
    ("name", "fits", "plain"),
    [
        ("CON", "_CON", "_CON"),
        ("con.xml", "_con.xml", "_con.xml"),
        ("Lpt1 .tei", "_Lpt1 .tei", "_Lpt1 .tei"),
        ("Conrad.xml", "Conrad.xml", "Conrad.xml"),
        ("a/b:c?", "a_b_c_", "a_b_c_"),
        (" .. ", " .. ", "page"),
        ("\u00e9" * 80, "\u00e9" * 80, "\u00e9" * 40),
    ],
)
def test_a_name_fits_every_system(name: str, fits: str, plain: str) -> None:
    assert (fitting_name(name), plain_name(name)) == (fits, plain)
