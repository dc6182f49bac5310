"""Pictures as readers and people see them: of any kind of pixels to grey or colours of 8 bits. Pillow is imported when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image


def flatten_image(image: Image.Image, mode: str = "RGB") -> Image.Image:
    """Convert *image* to *mode* (L or RGB): transparent pixels become white, samples of 16 bits or fractions become 8 bits."""
    if image.mode == mode:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        wide = (image if image.mode == "F" else image.convert("I")).convert("F")
        brightest = wide.getextrema()[1]
        assert isinstance(brightest, int | float)
        scale = 255 / brightest if brightest > 0 else 0
        return wide.point(lambda value: value * scale).convert("L").convert(mode)
    if image.mode in ("LA", "La", "RGBA", "RGBa", "PA") or "transparency" in image.info:
        from PIL import Image

        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        return paper.convert(mode)
    return image.convert(mode)
