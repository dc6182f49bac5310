"""The picture names that layout files declare, as pairing compares them."""

from __future__ import annotations

import pytest

from armarium_formats.batches.names import last_part
from armarium_formats.batches.pairing import LayoutFile, LayoutPage, Pair, PictureFile, Pictures


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ("scans/a.jpg", "a.jpg"),
        ("C:\\scans\\a b.jpg", "a b.jpg"),
        ("https://a.example/get/a.jpg?size=full", "a.jpg"),
        ("https://iiif.example/image/b28_0001.jp2/full/max/0/default.jpg", "b28_0001.jp2"),
        ("https://gallica.bnf.fr/iiif/ark:/12148/btv1b8447302/f10/full/full/0/native.jpg", "f10"),
        ("https://iiif.example/ark%3A%2F12148%2Fbtv1/10,20,300,400/!500,500/!90.0/gray.png", "btv1"),
        ("https://iiif.example/a/pct:1,2,3,4/pct:50/0/color.webp?x=1", "a"),
        ("https://a.example/full/0/default.jpg", "default.jpg"),
        ("/" * 5000 + "default.jpg", "default.jpg"),
    ],
)
def test_the_name_in_a_path_or_address(stated: str, name: str) -> None:
    assert last_part(stated) == name


def test_pages_of_one_image_server_find_their_pictures() -> None:
    """Each page declares `default.jpg`; only the rest of the URL tells them apart."""
    pictures = Pictures([PictureFile(str(one), (), f"b28_000{one}.jpg", (10, 10)) for one in (1, 2)])
    for one in (1, 2):
        address = f"https://iiif.example/image/b28_000{one}.jp2/full/max/0/default.jpg"
        (found,) = pictures.pair(LayoutFile((), f"page {one}.xml", (LayoutPage(address, (10, 10)),)))
        assert isinstance(found, Pair)
        assert (found.picture.key, found.how) == (str(one), "declared")
