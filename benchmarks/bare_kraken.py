"""Kraken alone, in its own runtime's interpreter: finds the lines of the given files, repeatedly on request.

Run by ``read_pages.py`` as a script; imports nothing of the project. For each line on standard input it processes all
files once and prints the seconds that took.
"""

import os
import sys
import time


def main(files: list[str]) -> None:
    """Load the shipped line finder once; then one pass over *files* for each line of input."""
    import torch

    missing = _define_missing_operators()
    from kraken.configs import SegmentationInferenceConfig
    from kraken.tasks import SegmentationTaskModel
    from PIL import Image

    torch.set_num_threads(os.cpu_count() or 1)
    finder = SegmentationTaskModel.load_model()
    config = SegmentationInferenceConfig(accelerator="cpu", device="auto", num_threads=os.cpu_count() or 1)
    for _ in sys.stdin:
        begun = time.perf_counter()
        for file in files:
            with Image.open(file) as image:
                finder.predict(image.convert("RGB"), config)
        print(time.perf_counter() - begun, flush=True)
    del missing


def _define_missing_operators() -> object:
    """Define two operators a CPU build of torch lacks, without which torchvision (and so kraken) cannot be imported."""
    import torch

    try:
        import torchvision  # noqa: F401
    except (RuntimeError, ImportError):
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return library
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
