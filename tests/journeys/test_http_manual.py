"""The script in the manual of the HTTP interface works with an engine that serves in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from armarium_demo.samples import write_sample_pages
from checkout import ROOT, text

pytestmark = pytest.mark.slow


def test_the_script_of_the_manual_runs(tmp_path: Path) -> None:
    write_sample_pages(tmp_path / "pages", count=2, scale=0.4)
    script = "\n".join(re.findall(r"```python\n(.*?)```", text(ROOT / "docs" / "http.md"), re.DOTALL))
    armarium = Path(sys.executable).parent / "armarium"
    environment = {
        **os.environ,
        "PATH": f"{armarium.parent}:{os.environ['PATH']}",
        "SERVICE_STATE_DIR": str(tmp_path / "state"),
        "SERVICE_LOCAL_ONLY": "true",
    }
    with subprocess.Popen([armarium, "serve", "--port", "0"], cwd=tmp_path, env=environment) as engine:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "state" / "engine.json").exists():
                assert engine.poll() is None
                assert time.monotonic() < deadline, "the engine did not come up"
                time.sleep(0.05)
            ran = subprocess.run(
                [sys.executable, "-c", script],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
            )
        finally:
            engine.terminate()
    assert ran.returncode == 0, ran.stderr
    (first, *_) = sorted(path.name for path in (tmp_path / "pages").iterdir())
    said, by_the_device, devices = ran.stdout.splitlines()
    assert said == first
    assert (by_the_device, devices) == (said, "['Tablet']")
