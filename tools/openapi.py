"""Writes docs/openapi.json: the published document of the engine with all first-party plugins.

Run by `make openapi`; tests/test_openapi.py fails when the committed document differs from what the code says.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from armarium.api import Settings
from armarium.web.app import create_app

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def build_document() -> str:
    """The document as text: sorted keys, so that a diff shows what changed and nothing else."""
    with tempfile.TemporaryDirectory() as state:
        document = create_app(Settings(state_dir=Path(state))).openapi()
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(build_document(), encoding="utf-8")
    print(f"{DOCUMENT}: {len(json.loads(DOCUMENT.read_text())['paths'])} paths")
