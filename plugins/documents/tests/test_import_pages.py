"""Pages of PDFs and TIFFs, each rendered separately: their size, their colours, and the limits on their size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from documents_fixtures import Run, picture, rows

from armarium.api import Library


def test_a_tiff_of_several_pages_becomes_a_file_with_pages(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from PIL import Image

    pages = [Image.new("RGB", (200 + 10 * n, 100), (n * 40, 0, 0)) for n in range(3)]
    pages[0].save(source / "roll.tif", save_all=True, append_images=pages[1:])
    done = import_and_wait(folder=str(source))
    assert (done["files"], done["documents"]) == (1, 5)
    ((identity, kind, told),) = rows(
        library,
        "SELECT id, file_type, json_extract(metadata, '$.page_count') FROM document WHERE name = 'roll.tif'",
    )
    assert (kind, told) == ("image", 3)
    assert rows(
        library,
        "SELECT d.name, d.doc_type, d.sequence, r.pixel_width, r.mime_type, r.role FROM document d"
        " JOIN rendition r ON r.document_id = d.id WHERE d.parent_id = ? ORDER BY d.sequence",
        identity,
    ) == [(f"Page {n + 1}", "page", n + 1, 200 + 10 * n, "image/jpeg", "derived") for n in range(3)]


def test_black_and_white_pages_stay_black_and_white(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from PIL import Image

    pages = [Image.new("1", (64, 64), n) for n in range(2)]
    pages[0].save(source / "fax.tif", save_all=True, append_images=pages[1:], compression="group4")
    import_and_wait(folder=str(source))
    assert set(rows(library, "SELECT mime_type FROM rendition WHERE role = 'derived'")) == {("image/png",)}


def test_a_pdf_becomes_a_file_with_pages_at_300_dpi(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from PIL import Image

    pages = [Image.new("RGB", (300, 450), shade) for shade in ("white", "navy")]
    pages[0].save(source / "act.pdf", save_all=True, append_images=pages[1:], resolution=100)
    import_and_wait(folder=str(source))
    assert rows(library, "SELECT file_type FROM document WHERE name = 'act.pdf'") == [("pdf",)]
    found_rows = rows(
        library,
        "SELECT pixel_width, pixel_height, json_extract(params, '$.dpi') FROM rendition WHERE made_by = 'pdfium'",
    )
    assert found_rows == [(900, 1350, 300), (900, 1350, 300)]


def test_a_huge_sheet_is_pictured_coarser(import_and_wait: Run, source: Path, library: Library) -> None:
    from PIL import Image

    Image.new("L", (100, 100), 255).save(source / "map.pdf", resolution=1)
    import_and_wait(folder=str(source))
    ((width, height, dpi),) = rows(
        library,
        "SELECT pixel_width, pixel_height, json_extract(params, '$.dpi') FROM rendition WHERE made_by = 'pdfium'",
    )
    assert width * height <= 25_000_000
    assert dpi < 300


def test_a_page_in_colour_keeps_its_colours_and_a_grey_one_has_no_channels(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from PIL import Image

    flag = Image.new("RGB", (300, 400), (200, 200, 200))
    flag.paste((30, 60, 200), (0, 380, 300, 400))  # only in the last rows
    flag.save(
        source / "flag.pdf", save_all=True, append_images=[Image.new("L", (300, 400), 90)], resolution=72
    )
    import_and_wait(folder=str(source))
    found = []
    for (checksum,) in rows(
        library,
        "SELECT r.checksum FROM rendition r JOIN document d ON d.id = r.document_id"
        " WHERE d.doc_type = 'page' ORDER BY d.sequence",
    ):
        with Image.open(library.objects.path(checksum)) as page:
            found.append((page.mode, page.getpixel((600, 600)), page.getpixel((600, page.height - 20))))
    (colour, paper, stripe), (grey, *shades) = found
    assert (colour, paper) == ("RGB", (200, 200, 200))
    assert isinstance(stripe, tuple)
    assert max(abs(has - was) for has, was in zip(stripe, (30, 60, 200), strict=True)) < 8
    assert (grey, shades) == ("L", [90, 90])


def test_a_scroll_longer_than_a_jpeg_is_pictured_all_the_same(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from PIL import Image

    Image.new("L", (20_000, 10), 255).save(source / "roll.pdf", resolution=36)
    pages = [Image.new("L", (70_000, 2), 255) for _ in range(2)]
    pages[0].save(source / "strips.tif", save_all=True, append_images=pages[1:], compression="tiff_lzw")
    result = import_and_wait(folder=str(source))
    assert result["refused"] == []
    assert rows(
        library,
        "SELECT made_by, pixel_width, mime_type FROM rendition WHERE made_by IS NOT NULL ORDER BY made_by, id",
    ) == [("pdfium", 65_500, "image/jpeg"), *[("pillow", 70_000, "image/png")] * 2]


def save_tiff(path: Path, *images: tuple[int, int]) -> None:
    """Write a TIFF of grey images in 4:3: (width, NewSubfileType) each."""
    from PIL import Image

    made = []
    for number, (width, kind) in enumerate(images):
        image = Image.new("L", (width, width * 3 // 4), 40 * number)
        image.encoderinfo = {"tiffinfo": {254: kind}}
        made.append(image)
    made[0].save(path, tiffinfo={254: images[0][1]}, save_all=True, append_images=made[1:])


def test_a_pyramid_is_one_picture_and_its_smaller_levels_are_named(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    save_tiff(source / "leaf.tif", (800, 0), (400, 1), (200, 1))
    done = import_and_wait(folder=str(source))
    assert rows(
        library, "SELECT name, json_extract(metadata, '$.width') FROM document WHERE doc_type = 'file'"
    ) == [("leaf.tif", 800)]
    assert rows(library, "SELECT count(*) FROM document WHERE doc_type = 'page'") == [(0,)]
    assert rows(
        library,
        "SELECT message FROM job_log WHERE row_id = ? AND message LIKE '%smaller copies%'",
        done["id"],
    ) == [("leaf.tif: 2 of its images are smaller copies or masks and no pages; the file is kept as it is.",)]


def test_a_tiff_that_begins_with_its_thumbnail_is_handed_to_readers_as_the_page(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from PIL import Image

    from armarium_documents.queries.files import page_image

    save_tiff(source / "leaf.tif", (160, 1), (800, 0))
    import_and_wait(folder=str(source))
    ((identity,),) = rows(library, "SELECT id FROM document WHERE name = 'leaf.tif'")
    with library.db.read() as conn:
        page = page_image(library, conn, identity)
    assert (page.width, page.height) == (800, 600)
    with Image.open(page.path) as opened:
        assert (opened.size, opened.getpixel((0, 0))) == ((800, 600), 40)


def test_a_picture_is_known_by_its_content_where_its_name_says_little(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    (source / "DSC001").write_bytes(picture())
    (source / "scan.jfif").write_bytes(picture())
    (source / "scan.avif").write_bytes(picture(form="AVIF"))
    (source / "README").write_text("what is in this folder")
    done = import_and_wait(folder=str(source))
    assert rows(library, "SELECT name FROM document WHERE file_type = 'image' ORDER BY name") == [
        ("DSC001",),
        ("scan.avif",),
        ("scan.jfif",),
    ]
    (refused,) = done["refused"]
    assert refused["file"] == "README"
    assert "a JPEG, PNG, TIFF, WebP, JPEG 2000, BMP, GIF, AVIF or HEIC image was expected" in refused["why"]


def test_a_file_of_many_pages_is_opened_once_to_picture_them(
    import_and_wait: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pypdfium2
    from PIL import Image
    from PIL.TiffImagePlugin import TiffImageFile

    for count in (2, 20):
        pages = [Image.new("L", (30, 40 + count), number) for number in range(count)]
        for ending in ("tif", "pdf"):  # saving a PDF leaves settings on the images
            (source / str(count)).mkdir(exist_ok=True)
            pages[0].save(source / f"{count}" / f"a.{ending}", save_all=True, append_images=pages[1:])
    opened: list[str] = []
    for kind in (pypdfium2.PdfDocument, TiffImageFile):

        def init(
            self: object, *given: object, really: Callable[..., None] = kind.__init__, **how: object
        ) -> None:
            opened.append(type(self).__name__)
            really(self, *given, **how)

        monkeypatch.setattr(kind, "__init__", init)
    import_and_wait(folder=str(source / "2"))
    few = sorted(opened)
    opened.clear()
    import_and_wait(folder=str(source / "20"))
    assert sorted(opened) == few == ["PdfDocument", "PdfDocument", "TiffImageFile", "TiffImageFile"]


def test_an_orientation_that_does_not_exist_turns_nothing(
    import_and_wait: Run, source: Path, library: Library
) -> None:
    from documents_fixtures import make_turned_picture

    (source / "a.jpg").write_bytes(make_turned_picture(0))
    import_and_wait(folder=str(source))
    found_rows = rows(library, "SELECT pixel_width, pixel_height, params FROM rendition")
    assert found_rows == [(120, 90, "{}")]
