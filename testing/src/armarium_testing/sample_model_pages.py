"""The pages that the examples of these jobs use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armarium.api import Example, new_id
from armarium_testing.sample_pages import sample_page, sample_picture

WORDS = ("Deer Sir", "your letter of the third", "has come to hand")
"""The lines as a machine read them, in order."""


def with_provider(example: Callable[[Example], dict[str, Any]]) -> Callable[[Example], dict[str, Any]]:
    """Wrap *example* so that its settings name a provider on this machine."""

    def make(ex: Example) -> dict[str, Any]:
        ground = example(ex)
        fields = {"name": f"Server {new_id()}", "provider_type": "local-server"}
        provider = ex.run("provider.create", fields)["id"]
        model = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
        ex.run("provider.set_models", {"provider_id": provider, "models": [model]})
        return {**ground, "settings": {"provider": provider, **ground.get("settings", {})}}

    return make


def read_page(ex: Example) -> dict[str, Any]:
    """Create a page of three lines that a machine read."""
    return {"page_id": sample_page(ex, WORDS, reader="sample-reader").document_id}


SIGN_CORNERS = ((60, 60), (240, 180))
"""The corners of the signs of the sample, in pixels of its 400 by 300 picture."""


def signed_page(ex: Example) -> dict[str, Any]:
    """Create a page with a picture and two signs, each a dark square."""
    from PIL import Image

    image = Image.new("L", (400, 300), 225)
    for left, top in SIGN_CORNERS:
        image.paste(20, (left, top, left + 40, top + 40))
    rects = [[left / 400, top / 300, 40 / 400, 40 / 300] for left, top in SIGN_CORNERS]
    signs = [{"kind": "word", "kind_raw": "sign", "anchor": {"rect": rect}} for rect in rects]
    return {"page_id": sample_page(ex, document_id=sample_picture(ex, image), segments=signs).document_id}
