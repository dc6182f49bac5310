"""``python -m armarium_demo.samples FOLDER`` writes the sample pages into a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from armarium_demo.samples.pages import write_sample_pages


def main(arguments: list[str] | None = None) -> int:
    """Write the pages and print what was written; returns 2 when an option makes no page."""
    parser = argparse.ArgumentParser(prog="python -m armarium_demo.samples", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder that receives 0001.jpg, 0002.jpg, …")
    parser.add_argument("--count", type=int, help="write only the first COUNT pages")
    parser.add_argument(
        "--seed", type=int, default=1, help="another seed gives other pictures of the same texts"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is 1600 x 2300 pixels")
    parser.add_argument(
        "--font", type=Path, help="a TrueType font instead of the one that comes with Armarium"
    )
    parser.add_argument("--truth", type=Path, help="folder for the lines and document boundaries, as JSON")
    chosen = parser.parse_args(arguments)
    try:
        paths = write_sample_pages(
            chosen.folder,
            chosen.seed,
            chosen.count,
            scale=chosen.scale,
            font_path=chosen.font,
            truth=chosen.truth,
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(paths)} sample pages in {chosen.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
