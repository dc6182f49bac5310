"""What builds of PyTorch need before others can be imported beside them; torch itself is imported only when it is asked for."""

from __future__ import annotations

from typing import Any

_kept: list[Any] = []
"""Keeps the operators' library alive, since it takes them back when it is collected."""


def define_missing_operators() -> None:
    """Define the two operators of torchvision's binary where it cannot be imported without: beside a CPU build of torch."""
    import torch

    if torch.version.cuda is not None:
        return
    try:
        import torchvision
    except (RuntimeError, ImportError):
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _kept.append(library)
        import torchvision
    assert torchvision.__name__
