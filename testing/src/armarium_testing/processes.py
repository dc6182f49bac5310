"""Questions about processes that tests have started or killed."""

import psutil


def has_ended(pid: int) -> bool:
    """Return whether no process runs under *pid* any more; a process that only waits to be reaped counts as ended.

    A process may end between two checks, so no later check may rely on the first.
    """
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
