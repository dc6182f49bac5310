"""The project's disk during an import: a scratch folder on it, and the refusals when it is full or fails."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from armarium.api import ServiceError, Unavailable

if TYPE_CHECKING:
    from armarium.api import Library


@contextmanager
def scratch(library: Library) -> Iterator[Path]:
    """Yield a scratch folder on the project's disk; removed afterwards, or after a kill when next opened.

    Raises Unavailable if it cannot be made.
    """
    place = library.objects.root / "tmp"
    try:
        place.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="ingest-", dir=place)).resolve()
    except OSError as error:
        raise disk_refuses(error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def disk_refuses(error: OSError) -> ServiceError | OSError:
    """Return the refusal for an error of the project's disk."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable(
            "The disk of the project is full; nothing was imported. Free some space and try again.",
            code="disk_full",
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return Unavailable("The project's folder is not writable; nothing was imported.", code="read_only")
    if error.errno == errno.EIO:
        return Unavailable("The project's disk reported an error; nothing was imported.", code="disk_error")
    return error
