"""The guard of the whole suite works: a planted test that connects to another machine fails, even if it hides that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT

MUTANTS = {
    "connects": 'socket.create_connection(("192.0.2.1", 80), timeout=0.1)',
    "sends": 'socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 80))',
    "looks up": 'socket.getaddrinfo("example.invalid", 80)',
    "maps": 'socket.create_connection(("::ffff:192.0.2.1", 80), timeout=0.1)',
}
STAYS = (
    'server = socket.create_server(("127.0.0.1", 0)); socket.create_connection(server.getsockname()).close()'
)


def outcome(call: str, folder: Path) -> str:
    shutil.copy(ROOT / "conftest.py", folder / "conftest.py")
    body = (
        f"import contextlib, socket\ndef test_it():\n    with contextlib.suppress(OSError):\n        {call}\n"
    )
    (folder / "test_mutant.py").write_text(body)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mutant.py"]
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=folder, env=bare, capture_output=True, text=True).stdout


@pytest.mark.parametrize("call", MUTANTS.values(), ids=MUTANTS.keys())
def test_a_mutant_that_calls_out_fails(call: str, tmp_path: Path) -> None:
    assert "something tried to leave the machine" in outcome(call, tmp_path)


def test_loopback_is_allowed(tmp_path: Path) -> None:
    assert "1 passed" in outcome(STAYS, tmp_path)
