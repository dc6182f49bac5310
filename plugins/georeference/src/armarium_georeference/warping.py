"""Draws a picture as its transformation lays it on the ground: the inverse by Newton's method, the drawing by
a mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

    from armarium_georeference.fitting import Fit, Points

    Numbers = NDArray[np.float64]

CELL = 12
"""The distance in pixels of the drawing between computed places; between them it is interpolated linearly."""
_ROUNDS = 25
_NODES = 49
_REACH = 2.0
"""How far beyond its control points a map is drawn, relative to their extent: farther out a spline is unreliable."""


class Window(NamedTuple):
    """The part of the plane that is drawn: its edges in metres, and metres per pixel."""

    west: float
    south: float
    east: float
    north: float
    scale: float

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in pixels."""
        return max(1, round((self.east - self.west) / self.scale)), max(
            1, round((self.north - self.south) / self.scale)
        )

    def pixels(self, ground: Points) -> Points:
        """Return places of the plane as pixels of the drawing, y down."""
        import numpy as np

        return np.column_stack(
            [(ground[:, 0] - self.west) / self.scale, (self.north - ground[:, 1]) / self.scale]
        )


@dataclass
class Warp:
    """A fit with the size of its picture."""

    fit: Fit
    size: tuple[int, int]

    def nodes(self) -> tuple[Points, Points]:
        """Return places spread over the picture, in pixels with y up, and their places on the ground."""
        import numpy as np

        width, height = self.size
        x, y = np.meshgrid(np.linspace(0, width, _NODES), np.linspace(0, height, _NODES))
        picture = np.column_stack([x.ravel(), y.ravel()])
        ground = self.fit.apply(picture)
        sound = np.isfinite(ground).all(axis=1)
        return picture[sound], ground[sound]

    def window(self, control: Points, longest: int) -> Window:
        """Return the window to draw: the whole picture if it stays near its control points (*control*, on the
        ground).
        """
        import numpy as np

        _, ground = self.nodes()
        low, high = control.min(axis=0), control.max(axis=0)
        slack = max(float((high - low).max()), 1e-6) * _REACH
        lowest = np.maximum(ground.min(axis=0), low - slack)
        highest = np.minimum(ground.max(axis=0), high + slack)
        margin = float((highest - lowest).max()) * 0.04
        scale = (float((highest - lowest).max()) + 2 * margin) / longest
        west, south = (lowest - margin).tolist()
        east, north = (highest + margin).tolist()
        return Window(west, south, east, north, scale)

    def invert(self, ground: Points) -> Points:
        """Return the places in the picture (pixels, y up) of places on the ground; NaN where none was found."""
        import numpy as np

        start, nodes = self.nodes()
        inverse = np.empty_like(ground)
        step = max(1, 4_000_000 // max(1, len(nodes)))
        for at in range(0, len(ground), step):
            part = ground[at : at + step]
            far = (part[:, 0, None] - nodes[None, :, 0]) ** 2 + (part[:, 1, None] - nodes[None, :, 1]) ** 2
            inverse[at : at + step] = start[far.argmin(axis=1)]
        reach = max(self.size)
        right, above = np.array([0.5, 0.0]), np.array([0.0, 0.5])
        with np.errstate(all="ignore"):
            for _ in range(_ROUNDS):
                missing = self.fit.apply(inverse) - ground
                along = self.fit.apply(inverse + right) - self.fit.apply(inverse - right)
                up = self.fit.apply(inverse + above) - self.fit.apply(inverse - above)
                det = along[:, 0] * up[:, 1] - along[:, 1] * up[:, 0]
                dx = (missing[:, 0] * up[:, 1] - missing[:, 1] * up[:, 0]) / det
                dy = (missing[:, 1] * along[:, 0] - missing[:, 0] * along[:, 1]) / det
                move = np.column_stack([dx, dy])
                length = np.hypot(dx, dy)
                move *= np.minimum(1.0, reach / 4 / np.maximum(length, 1e-12))[:, None]
                inverse = inverse - move
                if not (length > 1e-3).any():
                    break
            missing = self.fit.apply(inverse) - ground
            size = np.hypot(along[:, 0], along[:, 1]) + np.hypot(up[:, 0], up[:, 1])
            bad = ~(np.hypot(missing[:, 0], missing[:, 1]) < size)
        inverse[bad] = np.nan
        return inverse

    def draw(self, image: Image.Image, window: Window) -> Image.Image:
        """Draw the picture as it is in *window*, transparent elsewhere. *image* may be a smaller one."""
        import numpy as np
        from PIL import Image

        width, height = window.size
        xs, ys = np.arange(0, width + CELL, CELL), np.arange(0, height + CELL, CELL)
        x, y = np.meshgrid(xs, ys)
        ground = np.column_stack(
            [window.west + x.ravel() * window.scale, window.north - y.ravel() * window.scale]
        )
        places = self.invert(ground)
        shrunk = image.width / self.size[0], image.height / self.size[1]
        at = np.column_stack([places[:, 0] * shrunk[0], (self.size[1] - places[:, 1]) * shrunk[1]])
        at = at.reshape(len(ys), len(xs), 2)
        inside = (
            (at[..., 0] >= 0) & (at[..., 0] <= image.width) & (at[..., 1] >= 0) & (at[..., 1] <= image.height)
        )
        sound: Any = np.isfinite(at).all(axis=2)
        mesh = []
        for row in range(len(ys) - 1):
            for column in range(len(xs) - 1):
                block = (slice(row, row + 2), slice(column, column + 2))
                if not sound[block].all() or not inside[block].any():
                    continue
                left, top = column * CELL, row * CELL
                corners = (at[row, column], at[row + 1, column], at[row + 1, column + 1], at[row, column + 1])
                quad = tuple(float(value) for corner in corners for value in corner)
                mesh.append(((left, top, left + CELL, top + CELL), quad))
        canvas = Image.new("RGBA", (width + CELL, height + CELL))
        if mesh:
            canvas = image.convert("RGBA").transform(
                canvas.size, Image.Transform.MESH, mesh, resample=Image.Resampling.BILINEAR
            )
        return canvas.crop((0, 0, width, height))
