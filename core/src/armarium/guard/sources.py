"""How the guard opens a file or bytes, and how it names them in a refusal."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, BinaryIO

from armarium.errors import Invalid


def plain(fault: BaseException) -> str:
    """What *fault* says, to stand inside a sentence."""
    return (str(fault) or type(fault).__name__).rstrip(".")


def name_of(source: Path | str | bytes) -> str:
    """What a refusal calls the file."""
    return "this file" if isinstance(source, bytes) else Path(source).name


def length_of(file: IO[bytes]) -> int:
    """Bytes in *file*, which stays where it is read."""
    at = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(at)
    return end


def open_source(source: Path | str | bytes, name: str) -> BinaryIO:
    """*source* for reading; Invalid in words where it cannot be."""
    if isinstance(source, bytes):
        return io.BytesIO(source)
    try:
        return open(source, "rb")
    except FileNotFoundError:
        raise Invalid(f"{name} is not there any more.", code="file_gone") from None
    except IsADirectoryError:
        raise Invalid(f"{name} is a folder; a file was expected.", code="not_a_file") from None
    except OSError as fault:
        raise Invalid(f"{name} cannot be read: {fault.strerror}.", code="file_unreadable") from None
