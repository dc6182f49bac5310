"""Builds the manual as a site, into the package of the workbench, from which `armarium docs` opens it.

Run by `make site`. The pages are the Markdown files of the checkout where they lie, so that links between them hold on a
forge, in an editor and here alike. It fails when a link leads nowhere, or when a page would load anything from elsewhere.
"""

from __future__ import annotations

import html.parser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bootstrap import ROOT

BUILD = ROOT / "build" / "site"
SITE = ROOT / "plugins" / "workbench" / "src" / "armarium_workbench" / "manual"
PAGES = ("*.md", "docs/*.webp", "docs/openapi.json", "docs/site/*", "tools/server/*")
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "srcset")}
"""What a browser fetches without being asked."""


def gather_pages(place: Path) -> list[str]:
    """Copy the pages under version control, or about to be, to *place*; return their names."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *PAGES],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    # The README of a template belongs to the site that somebody makes from it.
    names = [
        name
        for name in sorted(set(listed.split("\0")))
        if (ROOT / name).is_file() and "/template/" not in name
    ]
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    return names


def configuration(names: list[str]) -> str:
    """Return the settings of the generator, each line `# PAGES` replaced by the pages that it stands for."""
    text = (ROOT / "docs" / "site" / "zensical.toml").read_text(encoding="utf-8")
    remaining_names = [name for name in names if f'"{name}"' not in text]

    def entries(line: re.Match[str]) -> str:
        # A star stands for no slash: docs/*.md has no page of docs/api.
        found = {
            path.relative_to(ROOT).as_posix() for glob in line["globs"].split() for path in ROOT.glob(glob)
        }
        return "".join(f'{line["indent"]}"{name}",\n' for name in remaining_names if name in found)

    return re.sub(r"(?m)^(?P<indent> *)# PAGES (?P<globs>.*)\n", entries, text)


class Links(html.parser.HTMLParser):
    """The links of a page, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[tuple[str, bool]] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note each, and whether the browser fetches it without being asked."""
        self.links += [
            (value, (tag, name) in LOADS)
            for name, value in attributes
            if value and ((tag, name) in LOADS or (tag, name) == ("a", "href"))
        ]


def faults(site: Path) -> list[str]:
    """Return what is wrong with the links of a built site; the generator checks those between pages, not those to files."""
    found = []
    for page in sorted(site.rglob("*.html")):
        for link, loaded in Links(page).links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                if loaded and target.scheme != "data":
                    found.append(f"{page.relative_to(site)} loads {link}")
            elif target.path and not (page.parent / unquote(target.path)).resolve().is_file():
                found.append(f"{page.relative_to(site)} links to {link}, which is not there")
    return found


def build(place: Path) -> Path:
    """Build the site in the folder *place*; return where it is. SystemExit names the links that lead nowhere."""
    shutil.rmtree(place, ignore_errors=True)
    names = gather_pages(place / "pages")
    settings = place / "zensical.toml"
    settings.write_text(configuration(names), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", settings],
        cwd=place,
        env={"NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise SystemExit(f"The site was not built:\n{ran.stdout}{ran.stderr}")
    site = place / "built"
    # Pages that are opened as files search in search.js, which has the same content; the others are for a web host.
    for name in ("search.json", "sitemap.xml", "404.html"):
        (site / name).unlink(missing_ok=True)
    if wrong := faults(site):
        raise SystemExit("\n".join(["The site was not built:", *wrong]))
    return site


def main() -> None:
    """Build it, and put it where the workbench has its manual."""
    built = build(BUILD)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(built, SITE)
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) / 1_000_000
    print(f"The manual is built ({size:.0f} MB): armarium docs opens it.")


if __name__ == "__main__":
    main()
