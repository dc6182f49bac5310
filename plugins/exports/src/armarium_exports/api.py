"""What other families may use of exports: the type of what they answer to `armarium_exports_records`."""

from __future__ import annotations

from armarium_exports.hookspecs import Contribution

__all__ = ["Contribution"]
