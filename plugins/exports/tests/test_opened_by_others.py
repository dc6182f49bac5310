"""What we write is opened by programs that are not ours; where one is missing its test is skipped and says which."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import polars
import pytest
from exports_desk import Desk

SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")
PYTHON = os.environ.get("ARMARIUM_READERS_PYTHON") or sys.executable
"""An interpreter that has the readers, so that they need not be installed beside the engine."""
LINES = ["Dear Sir", "I am <well> & hope…", "schön"]

_READ = """
import importlib, json, sys
reader, bundle, lines, cache = sys.argv[1:]
try:
    module = importlib.import_module(reader)
except ImportError:
    print(json.dumps(None)); raise SystemExit
if reader == "pandas":
    import pyarrow
    table = module.read_parquet(f"{bundle}/representation.parquet").sort_values("id")
    rows = module.read_json(lines, lines=True)
    said = [table["content"].tolist(), rows[rows.record_type == "representation"].sort_values("id")["content"].tolist()]
    shapes = [json.loads(one)["rect"] for one in module.read_parquet(f"{bundle}/segment.parquet").sort_values("id")["anchor"]]
    print(json.dumps([*said, shapes]))
elif reader == "duckdb":
    ask = lambda words: [row[0] for row in module.sql(words).fetchall()]
    said = [ask(f"SELECT content FROM '{bundle}/representation.parquet' ORDER BY id"),
            ask(f"SELECT content FROM read_json_auto('{lines}', union_by_name = true) WHERE record_type = 'representation' ORDER BY id")]
    shapes = [json.loads(one)["rect"] for one in ask(f"SELECT anchor FROM '{bundle}/segment.parquet' ORDER BY id")]
    print(json.dumps([*said, shapes]))
elif reader == "polars":
    table = module.read_parquet(f"{bundle}/representation.parquet").sort("id")
    rows = module.read_ndjson(lines, infer_schema_length=None)
    said = [table["content"].to_list(), rows.filter(module.col("record_type") == "representation").sort("id")["content"].to_list()]
    shapes = [json.loads(one)["rect"] for one in module.read_parquet(f"{bundle}/segment.parquet").sort("id")["anchor"]]
    print(json.dumps([*said, shapes]))
else:
    load = lambda path: module.load_dataset("parquet", data_files=path, cache_dir=cache, split="train")
    pictures = load(f"{bundle}/line_picture.parquet")
    assert type(pictures.features["image"]).__name__ == "Image", pictures.features
    shapes = [[one["image"].width, one["image"].height, one["image"].convert("L").getpixel((300, 20))] for one in pictures]
    plain = load(f"{bundle}/representation.parquet").sort("id")
    print(json.dumps([plain["content"][:], [one["text"] for one in pictures], shapes]))
"""


def export_both(desk: Desk) -> tuple[Path, Path]:
    """A bundle with line pictures, and the same as JSON Lines."""
    desk.page(desk.box("Letters"), "1.png", LINES)
    bundle, lines = desk.folder / "bundle", desk.folder / "records.jsonl"
    desk.post("/api/export/parquet", output_path=str(bundle), line_pictures=True)
    desk.post("/api/export/jsonl", output_path=str(lines))
    return bundle, lines


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["polars", "duckdb", "pandas", "datasets"])
def test_records_are_read_with_one_line(desk: Desk, reader: str) -> None:
    """In a process of its own: readers bring threads and settings along that are nothing to other tests."""
    bundle, lines = export_both(desk)
    command = [PYTHON, "-c", _READ, reader, str(bundle), str(lines), str(desk.folder / "cache")]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(desk.folder / "hub")}
    process = subprocess.run(
        command, env={**os.environ, **offline}, capture_output=True, text=True, timeout=300, check=False
    )
    assert process.returncode == 0, process.stderr[-4000:]
    found = orjson.loads(process.stdout.splitlines()[-1])
    if found is None:
        pytest.skip(f"{reader} is not installed here")
    first, second, shapes = found
    assert first == LINES
    assert second == LINES
    if reader == "datasets":
        for number, (width, height, grey) in enumerate(shapes):
            assert width in range(958, 964)
            assert height in range(52, 57)
            assert abs(grey - 30 - number) < 6
    else:
        assert shapes == [[0.1, 0.05 + 0.1 * number, 0.8, 0.06] for number in range(len(LINES))]


@pytest.mark.slow
@pytest.mark.skipif(SOFFICE is None, reason="LibreOffice is missing: install the package libreoffice-writer")
def test_libreoffice_opens_the_word_files(desk: Desk) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", LINES)
    place = desk.folder / "kept"
    place.mkdir()
    desk.post("/api/export/kept", folder=str(place), format="word", per="page")
    desk.work()
    (path,) = place.rglob("*.docx")
    out = desk.folder / "opened"
    profile = f"-env:UserInstallation={(desk.folder / 'profile').as_uri()}"
    for kind in ("pdf", "txt:Text"):
        command = [
            str(SOFFICE),
            profile,
            "--headless",
            "--convert-to",
            kind,
            "--outdir",
            str(out),
            str(path),
        ]
        process = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert process.returncode == 0, process.stderr[-2000:]
    (text,) = out.glob("*.txt")
    read = text.read_text("utf-8-sig")
    assert "1.png" in read
    for line in LINES:
        assert line in read
    (pdf,) = out.glob("*.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.parametrize("receiver", ["ocr-d", "kraken", "escriptorium"])
def test_ocrd_reads_the_page_files(desk: Desk, receiver: str) -> None:
    """The page model of OCR-D is generated from the published schema, by others."""
    page_parse = pytest.importorskip(
        "ocrd_models.ocrd_page", reason="ocrd with what it needs is not installed here"
    ).parse
    desk.page(desk.box(), "1.png", LINES)
    box = desk.rows("SELECT parent_id FROM document WHERE name = '1.png'")[0][0]
    body: dict[str, Any] = {"receiver": receiver, "scope_ids": [box], "output_path": str(desk.folder / "out")}
    desk.post("/api/export/receivers", **body)
    (layout,) = [path for path in (desk.folder / "out").rglob("*.xml") if path.name != "mets.xml"]
    page = page_parse(str(layout), silence=True).get_Page()
    lines = page.get_AllTextLines()
    assert [line.get_TextEquiv()[0].get_Unicode() for line in lines] == LINES
    assert (page.get_imageWidth(), page.get_imageHeight()) == (1200, 900)
    assert all(line.get_Baseline().get_points() for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("receiver", ["kraken", "mets-viewer", "transkribus"])
def test_kraken_reads_the_layout_files(desk: Desk, receiver: str) -> None:
    parser = pytest.importorskip("kraken.lib.xml", reason="kraken is not installed here")
    desk.page(desk.box(), "1.png", LINES)
    box = desk.rows("SELECT parent_id FROM document WHERE name = '1.png'")[0][0]
    body: dict[str, Any] = {"receiver": receiver, "scope_ids": [box], "output_path": str(desk.folder / "out")}
    desk.post("/api/export/receivers", **body)
    (layout,) = [path for path in (desk.folder / "out").rglob("*.xml") if path.name != "mets.xml"]
    page = parser.XMLPage(str(layout))
    assert [sorted_line.text for sorted_line in page.get_sorted_lines()] == LINES
    assert sorted(page.image_size) == [900, 1200]


def test_polars_reads_the_whole_bundle(desk: Desk) -> None:
    bundle, _ = export_both(desk)
    for file in bundle.glob("*.parquet"):
        assert polars.read_parquet(file) is not None
