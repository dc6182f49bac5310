"""Kraken alone, in its own runtime's interpreter: writes the lines it is given, and parses the given files.

Run by ``alto_export.py`` as a script; imports nothing of the project. It receives lines, then actions, and prints for
each action the seconds it took.
"""

import ast
import sys
import time
from pathlib import Path


def main(times: int) -> None:
    """Read lines and actions from standard input."""
    from kraken.containers import BaselineLine, Region, Segmentation
    from kraken.lib.xml import XMLPage
    from kraken.serialization import serialize

    lines, regions = [], {}
    for said in sys.stdin:
        deed, _, rest = said.rstrip("\n").partition("\t" if said.startswith("line\t") else " ")
        if deed == "line":
            region, identity, baseline, boundary, text = rest.split("\t")
            regions.setdefault(region, None)
            line = BaselineLine(
                id=identity,
                baseline=ast.literal_eval(baseline),
                boundary=ast.literal_eval(boundary),
                text=text,
                regions=[region],
            )
            line.prediction = text  # what is written for a line that was read as a whole
            lines.append(line)
            continue
        boxes = [Region(id=name, boundary=[(0, 0), (9, 0), (9, 9), (0, 9)]) for name in regions]
        begun = time.perf_counter()
        for _ in range(times):
            if deed == "write":
                page = Segmentation(
                    type="baselines",
                    imagename="page.jpg",
                    text_direction="horizontal-lr",
                    script_detection=False,
                    lines=lines,
                    regions={"text": boxes},
                )
                written = serialize(page, image_size=(2400, 3600), template=rest, sub_line_segmentation=False)
                assert "a row of some words" in written
            else:
                assert len(XMLPage(Path(rest)).lines) == len(lines)
        print(time.perf_counter() - begun, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
