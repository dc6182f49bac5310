"""What holds for every test: nothing leaves the machine, no time is kept, the log can be heard whatever ran before, and
no engine is left behind.

A connection or a name look-up beyond loopback fails the test that made it.
"""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import secrets
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, settings

_attempts: list[str] = []
_HERE = {"localhost", "testserver", "", None}


class LeftTheMachine(ConnectionRefusedError):
    """A test tried to reach another machine."""


def is_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in _HERE:
        return True
    try:
        return ipaddress.ip_address(str(name).split("%")[0]).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        # a str or bytes address is a Unix socket
        if isinstance(arguments[1], tuple) and not is_here(arguments[1][0]):
            _refuse(f"{event} {arguments[1][0]}")
    elif event == "socket.getaddrinfo" and not is_here(arguments[0]):
        try:
            ipaddress.ip_address(str(arguments[0]))  # a number is not looked up anywhere
        except ValueError:
            _refuse(f"look-up of {arguments[0]}")


def _refuse(what: str) -> None:
    _attempts.append(what)
    raise LeftTheMachine(f"tests stay on this machine, but there was a {what}")


LONGEST = (
    "proofs/test_nobody_learns", "in_a_browser", "test_the_project", "test_tei_files", "test_nothing_appears", "cli/test_engine",
    "cli/test_formats", "cli/test_pages", "test_trainings", "test_bombs_are_refused", "test_alto_files", "test_runs",
    "conformance", "test_hostile_input", "test_mcp_hostile", "test_paths_are_checked", "test_changes_meanwhile",
    "test_knowledge_jobs", "test_iiif_import", "test_tidy", "test_start", "test_statements", "test_import_contracts",
    "test_manual", "test_openapi",
)  # fmt: skip
"""What the files are called that take longest. Workers take one file after another: with these first, none of them is still
busy with a long one when the others have nothing left to do.
"""

SESSION = "PYTEST_ARMARIUM_SESSION"
"""In the environment of all that this run of the tests starts, so that what it left behind is known."""


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_watch)
    # Native code passes by that hook; this has to be said before it is imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Every engine of the tests has a state folder of its own; what is installed need not be tried for each.
    os.environ.setdefault("SERVICE_PLUGIN_TRIALS", str(config.rootpath / ".plugin-trials.json"))
    # No test keeps a key in the keychain of whoever runs it.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    # A test that wants an engine in the background says so, and stops it.
    os.environ["ARMARIUM_NO_BACKGROUND"] = "1"
    os.environ[SESSION] = secrets.token_hex(8)
    # A busy machine is no fault of what is tested: no example has a time to keep, nor has the making of one.
    settings.register_profile("armarium", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("armarium")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        return next((rank for rank, name in enumerate(LONGEST) if name in file), len(LONGEST))

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """What was collected stays until the end: the collector of garbage need not look through it again and again."""
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No engine in the background outlives the tests that started it."""
    left = [one for one in psutil.process_iter() if _is_an_engine_of_this_session(one)]
    for one in left:
        print(f"\nan engine in the background was left behind: process {one.pid}", file=sys.stderr)
        one.kill()
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _is_an_engine_of_this_session(process: psutil.Process) -> bool:
    try:
        return "--background" in process.cmdline() and process.environ().get(SESSION) == os.environ[SESSION]
    except psutil.Error:
        return False


@pytest.fixture(autouse=True)
def nothing_leaves() -> Iterator[None]:
    """Fails the test even when the code under it swallowed the refusal."""
    before = len(_attempts)
    yield
    if left := _attempts[before:]:
        pytest.fail(f"something tried to leave the machine: {', '.join(left)}")


@pytest.fixture(autouse=True)
def log_can_be_heard() -> None:
    """The command line quiets the engine it runs in its own process; a later test must hear that engine again."""
    logging.getLogger("armarium").setLevel(logging.NOTSET)
