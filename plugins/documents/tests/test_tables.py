"""Tables of spreadsheets are read in whatever encoding they were saved, and no sign of them is ever another."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armarium_documents.tables import NotATable, read_table

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def read(data: bytes) -> list[dict[str, str]]:
    return [row for _, row in read_table(io.BytesIO(data)).rows]


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), max_size=6),
    separator=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    is_stated=st.booleans(),
)
def test_whatever_was_written_is_read(
    rows: list[tuple[str, str]], separator: str, encoding: str, is_stated: bool
) -> None:
    text = io.StringIO(newline="")
    if is_stated:
        text.write(f"sep={separator}\r\n")
    csv.writer(text, delimiter=separator).writerows([("URI", "Name"), *rows])
    expected = [{"uri": one.strip(), "name": other.strip()} for one, other in rows]
    assert read(text.getvalue().encode(encoding)) == expected


def test_windows_1252_is_recognised_and_said() -> None:
    table = read_table(io.BytesIO("uri;name\n1;José “Ñuflo” – Älter’s Œuvre: £5\n".encode("cp1252")))
    assert table.note == "The file is not in UTF-8; it was read as Windows-1252."
    assert [row for _, row in table.rows] == [{"uri": "1", "name": "José “Ñuflo” – Älter’s Œuvre: £5"}]
    assert read_table(io.BytesIO("uri;name\n1;José\n".encode())).note is None
    table = read_table(io.BytesIO("uri;name\n1;José Ñuflo\n2;Größe\n".encode("mac_roman")))
    assert table.note == "The file is not in UTF-8; it was read as Mac OS Roman."
    assert [row["name"] for _, row in table.rows] == ["José Ñuflo", "Größe"]


@pytest.mark.parametrize(
    "data",
    [
        "name\nŁódź\n".encode("cp1250"),
        "name\nJosé\n".encode("cp1252") + b"\x81\n",
        "name\nПисьмо\n".encode("cp1251"),
        "name\nΛόγος\n".encode("cp1253"),
    ],
)
def test_an_encoding_that_is_neither_is_refused(data: bytes) -> None:
    with pytest.raises(NotATable, match="save it as CSV in UTF-8"):
        read(data)


def test_a_late_sign_of_another_encoding_decides_for_the_whole_table() -> None:
    data = b"name\n" + b"Juan\n" * 400_000 + "Josué".encode("cp1252") + b"\n"
    assert read(data)[-1] == {"name": "Josué"}


@pytest.mark.parametrize("data", [b"", b"\n", b"sep=;\n", b";;;\n"])
def test_what_holds_no_table_is_refused(data: bytes) -> None:
    with pytest.raises(NotATable, match="no table"):
        read(data)
