"""Record types written by two threads, each reading the same state of the project.

SQLite assembles records without holding the interpreter lock, so the two largest types, segments and their
readings, are read at the same time.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection

from armarium_exports.records import RecordType

Work = Callable[[RecordType, Connection], None]


def write_types(
    kinds: Iterable[RecordType], readers: tuple[Connection, Connection], near: Work, far: Work
) -> None:
    """Have each of *kinds* written once: *near* takes them from the first on, *far* from the last on, until
    they meet.
    """
    left = deque(kinds)
    failed = threading.Event()

    def work(take: Callable[[], RecordType], write: Work, reader: Connection) -> None:
        try:
            while not failed.is_set():
                try:
                    kind = take()
                except IndexError:
                    return
                write(kind, reader)
        except BaseException:
            failed.set()
            raise

    # The caller is part of the context, and the other thread reads on behalf of the same caller.
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, "export") as beside:
        other = beside.submit(context.run, work, left.pop, far, readers[1])
        work(left.popleft, near, readers[0])
        other.result()
