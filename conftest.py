"""What holds for every test: nothing leaves the machine, no time is kept, the log can be heard whatever ran before.

A connection or a name look-up beyond loopback fails the test that made it.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

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


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_watch)
    # Every engine of the tests has a state folder of its own; what is installed need not be tried for each.
    os.environ.setdefault("SERVICE_PLUGIN_TRIALS", str(config.rootpath / ".plugin-trials.json"))
    # A busy machine is no fault of what is tested: no example has a time to keep, nor has the making of one.
    settings.register_profile("armarium", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("armarium")


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
