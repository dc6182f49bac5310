"""Six transformations from the plane of a picture to a plane on the ground, each fitted to control points;
pure.

Picture points are pixels with y up; ground points are metres of a plane. Both are centred and scaled before
solving, so that their powers stay small; `Frame` has the amounts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]
    """Rows of x, y."""

Type = Literal["helmert", "polynomial1", "polynomial2", "polynomial3", "projective", "thin-plate-spline"]
TYPES: tuple[Type, ...] = get_args(Type)
NEEDED: dict[Type, int] = {
    "helmert": 2,
    "polynomial1": 3,
    "thin-plate-spline": 3,
    "projective": 4,
    "polynomial2": 6,
    "polynomial3": 10,
}
"""The least number of control points for each."""

SPLINE: Type = "thin-plate-spline"
_ORDER = {"polynomial1": 1, "polynomial2": 2, "polynomial3": 3}
_TOLERANCE = 1e-7
"""The smallest ratio of singular values at which a system of equations has one solution."""
_MOST_AT_ONCE = 2_000_000
"""How many numbers the evaluation of a spline holds in memory at a time."""


class Degenerate(ValueError):
    """No such transformation can be fitted to the points; the text is a sentence for a person."""


class Frame(NamedTuple):
    """The offset that is subtracted from points, and the scale they are divided by."""

    origin: tuple[float, float]
    scale: float

    def normalise(self, points: Points) -> Points:
        """Return the points centred at zero and scaled to about one."""
        import numpy as np

        return np.asarray((points - np.asarray(self.origin)) / self.scale)

    def denormalise(self, points: Points) -> Points:
        """Return the original points."""
        import numpy as np

        return np.asarray(points * self.scale + np.asarray(self.origin))


@dataclass(frozen=True)
class Fit:
    """A transformation of one type. Its coefficients map points in `picture`'s frame to `ground`'s.

    helmert: a, b, c, d of X = a x - b y + c, Y = b x + a y + d.
    polynomial1 to 3: for X and then for Y the factors of 1, x, y, x², xy, y², x³, x²y, xy², y³ up to the order.
    projective: the rows of the matrix H with H33 = 1.
    thin-plate-spline: for X and then for Y the factors of 1, x, y and of r² ln r about each control point.
    """

    type: Type
    picture: Frame
    ground: Frame
    coefficients: tuple[float, ...]
    centres: Points | None = None
    """The control points of a spline, in the picture's frame."""
    horizon: float = 0.0
    """The sign of the projective denominator on the map's side of its horizon."""

    def apply(self, points: Points) -> Points:
        """Return the ground points of picture points; NaN on the horizon of a projective map and beyond it."""
        import numpy as np

        xy = self.picture.normalise(np.asarray(points, dtype=np.float64))
        c = np.asarray(self.coefficients)
        if self.type == "helmert":
            a, b, tx, ty = c
            projected = np.column_stack([a * xy[:, 0] - b * xy[:, 1] + tx, b * xy[:, 0] + a * xy[:, 1] + ty])
        elif self.type == "projective":
            h = c.reshape(3, 3)
            w = xy @ h[2, :2] + h[2, 2]
            w = np.where(w * self.horizon > 1e-9, w, np.nan)
            projected = (xy @ h[:2, :2].T + h[:2, 2]) / w[:, None]
        elif self.type == SPLINE:
            assert self.centres is not None
            projected = _spline_values(xy, self.centres, c.reshape(2, -1).T)
        else:
            projected = _powers(xy, _ORDER[self.type]) @ c.reshape(2, -1).T
        return self.ground.denormalise(projected)


def fit(kind: Type, picture: Points, ground: Points) -> Fit:
    """Return the least-squares transformation of type *kind* in the ground's plane (a spline passes through
    its points).

    Raises Degenerate, in words, for too few points, and for points that coincide or are on one line if the
    type does not allow that.
    """
    import numpy as np

    picture, ground = np.asarray(picture, dtype=np.float64), np.asarray(ground, dtype=np.float64)
    distinct = len(np.unique(picture.round(6), axis=0))
    if distinct < NEEDED[kind]:
        raise Degenerate(_too_few(kind, len(picture), distinct))
    if len(np.unique(ground.round(6), axis=0)) < 2:
        raise Degenerate("All control points name the same place on the ground; give each its own place.")
    here, there = _frame(picture), _frame(ground)
    xy, target = here.normalise(picture), there.normalise(ground)
    if kind != "helmert":
        _refuse_line(xy, kind, "in the picture")
        _refuse_line(target, kind, "on the ground")
    if kind == "helmert":
        factors = _helmert(xy, target)
    elif kind == "projective":
        return _projective(here, there, xy, target)
    elif kind == SPLINE:
        return Fit(kind, here, there, _spline(xy, target), xy)
    else:
        factors = _polynomial(kind, xy, target)
    return Fit(kind, here, there, factors)


def leave_one_out(kind: Type, picture: Points, ground: Points) -> Points:
    """Return where a spline through all other points puts each control point; NaN if the others are on one
    line.

    Raises Degenerate like `fit`. By Rippa's identity, the error at a left-out point is its factor divided by
    the diagonal of the inverse, so the system is solved once instead of once per point.
    """
    import numpy as np

    picture, ground = np.asarray(picture, dtype=np.float64), np.asarray(ground, dtype=np.float64)
    fit(kind, picture, ground)
    here, there = _frame(picture), _frame(ground)
    xy, target = here.normalise(picture), there.normalise(ground)
    inverse = np.linalg.inv(_spline_matrix(xy))
    count = len(xy)
    weights = (inverse @ np.vstack([target, np.zeros((3, 2))]))[:count]
    diagonal = np.diag(inverse)[:count].copy()
    largest = float(np.abs(diagonal).max())
    diagonal[np.abs(diagonal) <= 1e-9 * largest] = np.nan
    if count <= NEEDED[kind]:
        diagonal[:] = np.nan
    return there.denormalise(target - weights / diagonal[:, None])


def is_mirrored(picture: Points, ground: Points) -> bool:
    """Return whether the points are mirrored: their orientation on the ground is opposite to that in the picture."""
    import numpy as np

    if len(picture) < 3:
        return False
    xy, target = _frame(picture).normalise(picture), _frame(ground).normalise(ground)
    if min(_thinness(xy), _thinness(target)) < 1e-3:
        return False
    design = np.column_stack([np.ones(len(xy)), xy])
    solved = np.linalg.lstsq(design, target, rcond=None)[0]
    return bool(np.linalg.det(solved[1:]) < 0)


def _too_few(kind: Type, have: int, distinct: int) -> str:
    apart = "1 has a place of its own" if distinct == 1 else f"{distinct} have places of their own"
    repeated_words = "" if distinct == have else f", of which {apart}"
    number = f"{have} {'counts' if have == 1 else 'count'}"
    return f"A {kind} transformation needs {NEEDED[kind]} control points; {number}{repeated_words}. Set more, or switch more on."


def _frame(points: Points) -> Frame:
    import numpy as np

    middle = points.mean(axis=0)
    scale = float(np.sqrt(((points - middle) ** 2).sum(axis=1).mean())) or 1.0
    return Frame((float(middle[0]), float(middle[1])), scale)


def _thinness(points: Points) -> float:
    """Return the width of a cloud of points divided by its length: 0 if all are on one line."""
    import numpy as np

    values = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return float(values[-1] / values[0]) if values[0] else 0.0


def _refuse_line(points: Points, kind: Type, where: str) -> None:
    if _thinness(points) < 1e-6:
        raise Degenerate(
            f"The control points are on one line {where}, which does not determine a {kind}. Set one off "
            "the line, or choose helmert, which needs only two points."
        )


def _solve(design: Points, target: Points, kind: Type) -> Points:
    import numpy as np

    values = np.linalg.svd(design, compute_uv=False)
    if values[-1] < _TOLERANCE * values[0]:
        raise Degenerate(
            f"The control points are on a curve that does not determine a single {kind}. Spread them over "
            "the map, or choose a simpler type."
        )
    return np.asarray(np.linalg.lstsq(design, target, rcond=None)[0], dtype=np.float64)


def _helmert(xy: Points, target: Points) -> tuple[float, ...]:
    import numpy as np

    zero, ones = np.zeros(len(xy)), np.ones(len(xy))
    east = np.column_stack([xy[:, 0], -xy[:, 1], ones, zero])
    north = np.column_stack([xy[:, 1], xy[:, 0], zero, ones])
    solved = _solve(np.vstack([east, north]), np.concatenate([target[:, 0], target[:, 1]]), "helmert")
    if float(np.hypot(solved[0], solved[1])) < 1e-6:
        raise Degenerate(
            "The best helmert shrinks the map to a point, as happens with a mirrored one. Choose polynomial1."
        )
    return tuple(solved.tolist())


def _powers(xy: Points, order: int) -> Points:
    import numpy as np

    x, y = xy[:, 0], xy[:, 1]
    terms = [np.ones_like(x)]
    for degree in range(1, order + 1):
        terms.extend(x ** (degree - k) * y**k for k in range(degree + 1))
    return np.column_stack(terms)


def _polynomial(kind: Type, xy: Points, target: Points) -> tuple[float, ...]:
    solved = _solve(_powers(xy, _ORDER[kind]), target, kind)
    return tuple(solved.T.ravel().tolist())


def _projective(here: Frame, there: Frame, xy: Points, target: Points) -> Fit:
    """Fit the linear equations first, then use Gauss-Newton to reach least squares on the ground."""
    import numpy as np

    x, y, u, v = xy[:, 0], xy[:, 1], target[:, 0], target[:, 1]
    zero, ones = np.zeros(len(x)), np.ones(len(x))
    design = np.vstack(
        [
            np.column_stack([x, y, ones, zero, zero, zero, -u * x, -u * y]),
            np.column_stack([zero, zero, zero, x, y, ones, -v * x, -v * y]),
        ]
    )
    h = _solve(design, np.concatenate([u, v]), "projective")
    best = _squares(h, xy, target)
    for _ in range(100):
        w = h[6] * x + h[7] * y + 1
        fu, fv = (h[0] * x + h[1] * y + h[2]) / w, (h[3] * x + h[4] * y + h[5]) / w
        slopes = np.vstack(
            [
                np.column_stack([x / w, y / w, ones / w, zero, zero, zero, -fu * x / w, -fu * y / w]),
                np.column_stack([zero, zero, zero, x / w, y / w, ones / w, -fv * x / w, -fv * y / w]),
            ]
        )
        step = np.linalg.lstsq(slopes, np.concatenate([u - fu, v - fv]), rcond=None)[0]
        while float(np.abs(step).max()) > 1e-13 and _squares(h + step, xy, target) > best:
            step = step / 2
        if float(np.abs(step).max()) <= 1e-13:
            break
        h = h + step
        best = _squares(h, xy, target)
    w = h[6] * x + h[7] * y + 1
    matrix = np.append(h, 1.0)
    if ((w > 0).any() and (w < 0).any()) or abs(np.linalg.det(matrix.reshape(3, 3))) < 1e-9:
        raise Degenerate(
            "The horizon of a projective map through these points runs between them, or three of four are "
            "on one line. Check them, or choose polynomial1."
        )
    return Fit("projective", here, there, tuple(matrix.tolist()), horizon=float(np.sign(w[0])))


def _squares(h: Points, xy: Points, target: Points) -> float:
    import numpy as np

    w = xy @ h[6:8] + 1
    if not np.abs(w).min() > 1e-12:
        return float("inf")
    u, v = (xy @ h[0:2] + h[2]) / w, (xy @ h[3:5] + h[5]) / w
    return float(((u - target[:, 0]) ** 2 + (v - target[:, 1]) ** 2).sum())


def _kernel(squares: Points) -> Points:
    """Return r² ln r of squared distances."""
    import numpy as np

    out = np.maximum(squares, 1e-300)
    np.log(out, out=out)
    out *= squares
    out *= 0.5
    return out


def _distances(first: Points, second: Points) -> Points:
    """Return the squared distances of each of *a* to each of *b*."""
    dx = first[:, 0, None] - second[None, :, 0]
    dy = first[:, 1, None] - second[None, :, 1]
    dx *= dx
    dy *= dy
    dx += dy
    return dx


def _spline_matrix(xy: Points) -> Points:
    import numpy as np

    count = len(xy)
    matrix = np.zeros((count + 3, count + 3))
    matrix[:count, :count] = _kernel(_distances(xy, xy))
    matrix[:count, count] = matrix[count, :count] = 1
    matrix[:count, count + 1 :] = xy
    matrix[count + 1 :, :count] = xy.T
    return matrix


def _spline(xy: Points, target: Points) -> tuple[float, ...]:
    import numpy as np

    if len(np.unique(xy.round(9), axis=0)) < len(xy):
        raise Degenerate(
            "Two control points are at the same place in the picture, and a spline passes through each of "
            "its points. Switch one of them off."
        )
    solved = np.linalg.solve(_spline_matrix(xy), np.vstack([target, np.zeros((3, 2))]))
    count = len(xy)
    return tuple(np.vstack([solved[count:], solved[:count]]).T.ravel().tolist())


def _spline_values(xy: Points, centres: Points, factors: Points) -> Points:
    import numpy as np

    values = factors[0] + xy @ factors[1:3]
    step = max(1, _MOST_AT_ONCE // max(1, len(centres)))
    for start in range(0, len(xy), step):
        part = xy[start : start + step]
        values[start : start + step] += _kernel(_distances(part, centres)) @ factors[3:]
    return np.asarray(values)
