"""How the guard opens a file or bytes, and names them in a refusal."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, BinaryIO

from armarium.errors import Invalid


def plain(fault: BaseException) -> str:
    """Return the message of *fault* for use inside a sentence."""
    return (str(fault) or type(fault).__name__).rstrip(".")


def name_of(source: Path | str | bytes) -> str:
    """Return the name a refusal gives the file."""
    return "this file" if isinstance(source, bytes) else Path(source).name


def length_of(file: IO[bytes]) -> int:
    """Return the number of bytes in *file*, whose position stays the same."""
    at = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(at)
    return end


def open_source(source: Path | str | bytes, name: str) -> BinaryIO:
    """Open *source* for reading; raises Invalid with a sentence where that fails."""
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
