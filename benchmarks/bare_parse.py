"""kraken's or ocrd's PAGE parser alone, in the interpreter that has it: parses the files of a folder on request.

Run by ``many_pages.py`` as a script; imports nothing of the project. For each line on standard input it parses all
files once and prints the seconds that took.
"""

import sys
import time
from pathlib import Path


def main(which: str, folder: str, lines: int) -> None:
    """Parse with *which*; *lines* is the number of lines in all files together, to check that nothing is left out."""
    files = sorted(Path(folder).glob("*.xml"))
    parse = _kraken() if which == "kraken" else _ocrd()
    for _ in sys.stdin:
        begun = time.perf_counter()
        found = sum(parse(file) for file in files)
        took = time.perf_counter() - begun
        assert found == lines, (found, lines)
        print(took, flush=True)


def _kraken():
    from kraken.lib.xml import XMLPage

    def parse(file):
        return len(XMLPage(file).lines)

    return parse


def _ocrd():
    from ocrd_models.ocrd_page import parse as parse_page

    def parse(file):
        page = parse_page(str(file), silence=True).get_Page()
        return sum(len(region.get_TextLine()) for region in page.get_TextRegion())

    return parse


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
