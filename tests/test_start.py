"""What starting the engine costs: heavy libraries are loaded by the first work that needs them, not before."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    *("PIL", "lxml", "numpy", "cv2", "onnxruntime", "rapidocr", "tesserocr", "pypdfium2"),
    *("alembic", "httpx", "rich", "torch", "urllib.request"),
    # An engine with all families serves where the command line is not installed.
    *("armarium_cli", "typer"),
    *("mcp", "mcp_types", "httpx2", "jsonschema", "cryptography", "jwt"),
}
ASSEMBLE = """
import pathlib, sys, tempfile
from armarium.api import Settings
from armarium.web.app import create_app
with tempfile.TemporaryDirectory() as state:
    create_app(Settings(state_dir=pathlib.Path(state)))
    made = sorted(str(path) for path in pathlib.Path(state).rglob("*"))
print(*made, sep="\\n", file=sys.stderr)
print(*sys.modules)
"""


def test_assembling_the_engine_loads_no_heavy_library_and_writes_nothing() -> None:
    ran = subprocess.run([sys.executable, "-c", ASSEMBLE], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()} | set(ran.stdout.split())
    assert loaded & HEAVY == set()
    assert ran.stderr.strip() == ""


def test_no_route_of_a_plugin_is_made_at_the_start() -> None:
    """What FastAPI derives from the endpoints of all of them would take a fourteenth of the start, and 3 MB."""
    listed = ASSEMBLE.replace("    create_app(", "    app = create_app(").replace(
        "print(*sys.modules)",
        "print(*(route.path for route in routes_of(app.routes) if not is_deferred(route)))",
    )
    imported = """
from armarium.web.deferred_routes import DeferredRoute
from armarium.web.routing import routes_of
def is_deferred(route):
    return isinstance(route, DeferredRoute) and not route.is_made
"""
    ran = subprocess.run(
        [sys.executable, "-c", imported + listed], capture_output=True, text=True, check=True
    )
    assert [path for path in ran.stdout.split() if path.startswith("/api/")] == []


def test_a_second_engine_lives_beside_the_first() -> None:
    """Nothing is kept in module globals, so two applications in one process do not interfere."""
    second_recipe = ASSEMBLE.replace(
        "    create_app(", "    assert create_app(Settings(state_dir=pathlib.Path(state))) is not create_app("
    )
    subprocess.run([sys.executable, "-c", second_recipe], capture_output=True, text=True, check=True)
