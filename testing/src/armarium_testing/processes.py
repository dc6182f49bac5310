"""What a test asks of a process that it started or killed."""

import psutil


def has_ended(pid: int) -> bool:
    """Whether no process runs under *pid* any more; one that only waits to be reaped counts as ended.

    A process may end between two looks at it, so no look may be taken for granted after the first.
    """
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
