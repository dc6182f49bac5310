"""Images as the guard opens them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from armarium.guard import open_image


@pytest.mark.parametrize("box", [None, (1, 0, 3, 1)])
def test_sixteen_bits_come_in_the_order_of_bytes_that_pillow_counts_with(
    tmp_path: Path, box: tuple[int, int, int, int] | None
) -> None:
    """A TIFF from a big-endian program opens in a mode whose extrema Pillow cannot compute."""
    deep = Image.frombytes("I;16B", (4, 1), b"\x00\x10\x10\x00\xff\xff\x80\x00")
    path = tmp_path / "deep.tif"
    deep.save(path, "TIFF")
    assert path.read_bytes()[:2] == b"MM"
    image = open_image(path, box=box)
    assert image.mode == "I;16"
    assert image.getextrema() == ((16, 65535) if box is None else (4096, 65535))
