"""No sign of a file is replaced by another in silence, whatever its encoding."""

from __future__ import annotations

import pytest

from armarium_formats.decoding import decode


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        (b"\xef\xbb\xbfDe\xffar Sir", "1 places of the file are not UTF-8"),
        ("\ufeffDear Sir".encode("utf-16-le") + b"\x00\xd8", "1 places of the file are not UTF-16-LE"),
        (b"\xe9t\xe9 \x81", "it was read as Windows-1252; 1 places of the file are not CP1252"),
    ],
)
def test_what_is_no_sign_of_the_encoding_is_counted(data: bytes, lost: str) -> None:
    found = decode(data)
    assert lost in (found.note or "")
    assert found.text.count("\ufffd") == 1


def test_a_sound_file_has_no_note() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert decode("été — Łódź".encode(encoding)) == (
            "été — Łódź",
            decode("é".encode(encoding)).encoding,
            None,
        )


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
@pytest.mark.parametrize(
    "text", ["für die Größe und Ähre, Übung", "José Ñuflo à Québec, l’été", "Le cœur — naïve", "DÉJÀ VU ÉTÉ"]
)
def test_texts_of_windows_and_of_old_macintoshes_are_told_apart(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert (found.text, found.encoding) == (text, encoding)
    assert ("Windows-1252" if encoding == "cp1252" else "Mac OS Roman") in (found.note or "")
