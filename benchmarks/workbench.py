"""Rows 44 to 46: the workbench in a real Chromium, on a page of 4,525 segments and in a folder of many pages."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import statistics
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psutil

from benchmarks.harness import Bound, Result
from benchmarks.http_load import Server
from benchmarks.page_import import HEIGHT, SEGMENTS, WIDTH, page_file
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.servers import engine_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "10000"))
"""10,000 is the full figure."""
CORRECTIONS = 40
PAN_SECONDS = 10
WEB = Path(__file__).parents[1] / "plugins" / "workbench" / "web"
VIEWER = WEB / "node_modules" / "openseadragon" / "build" / "openseadragon" / "openseadragon.min.js"
ANNOTORIOUS = os.environ.get("ARMARIUM_ANNOTORIOUS")
"""The folder `dist` of @annotorious/openseadragon, which is measured too where it is named; nothing else of ours needs it."""
PEER_PAGE = """<!doctype html><style>body, #page { margin: 0; height: 100vh }
.shapes { position: absolute; inset: 0; width: 100%; height: 100% }
polygon { fill: transparent; stroke: rgb(20 110 130 / 75%); vector-effect: non-scaling-stroke }
polygon.chosen { fill: rgb(226 88 34 / 10%); stroke: rgb(226 88 34); stroke-width: 2px }
</style><div id="page"></div><script src="viewer.js"></script>
<script src="svg_page.js"></script>"""
GAPS = """() => { window.frames_ = []; let last = performance.now(); window.counting = true;
const next = (at) => { frames_.push(at - last); last = at; if (window.counting) requestAnimationFrame(next) };
requestAnimationFrame(next) }"""
CHOOSE = """async (all) => { const spent = []; for (const one of document.querySelectorAll(all)) {
if (spent.length === 12) break; const begun = performance.now();
one.dispatchEvent(new MouseEvent('click', { bubbles: true }));
await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); spent.push(performance.now() - begun);
await new Promise((done) => setTimeout(done, 400)) } return spent }"""
"""Clicks on one thing after another; until what it changes has been drawn."""
CHOOSE_BY_NUMBER = """async () => { const spent = []; for (let number = 0; number < 12; number++) {
const begun = performance.now(); chooseShape(number);
await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); spent.push(performance.now() - begun);
await new Promise((done) => setTimeout(done, 400)) } return spent }"""
"""The same for what has no element for each shape."""


@dataclass
class Place:
    """A served project: where it is, and the page and the folder in it."""

    server: Server
    project: Path
    page: str
    folder: str
    library: str = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {**self.server.headers, "Content-Type": "application/json"}
        headers["X-Service-Library-Path"] = quote(str(self.project))
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(
            urllib.request.Request(self.address + path, data, headers, method=method)
        ) as answer:
            return json.load(answer)


@contextmanager
def serve_project() -> Iterator[Place]:
    """Serve a project with a page of 4,525 segments and a folder of `PAGES` pages."""
    from PIL import Image

    with scratch_folder() as folder:
        with running_engine(folder) as (engine, library):
            file = io.BytesIO()
            noise = Image.effect_noise((WIDTH // 2, HEIGHT // 2), 40).resize((WIDTH, HEIGHT))
            noise.convert("RGB").save(file, "JPEG", quality=85)
            picture = {
                "checksum": library.objects.put_bytes(file.getvalue()),
                "mime_type": "image/jpeg",
                "size_bytes": file.tell(),
                "pixel_width": WIDTH,
                "pixel_height": HEIGHT,
            }

            def add(name: str, count: int) -> tuple[str, list[str]]:
                parent = (engine.run(library, "document.create", {"name": name}, OWNER).result or {})["id"]
                ids = [f"{ord(name[0]):02x}{number:030x}" for number in range(count)]
                about = {"parent_id": parent, "doc_type": "file", "file_type": "image", "picture": picture}
                nodes = [
                    {"id": identity, "name": f"{number:05}.jpg", **about}
                    for number, identity in enumerate(ids)
                ]
                engine.run(library, "document.add_files", {"nodes": nodes}, OWNER)
                return parent, ids

            _, (page,) = add("Dense", 1)
            parent, _ = add("Many", PAGES)
            given = {"document_id": page, "file": page_file(), "filename": "page.xml"}
            engine.run(library, "format.import", given, OWNER)
            project = Path(library.path)
        with engine_server(folder, installed=True, project=project) as server:
            place = Place(server, project, page, parent)
            place.ask("POST", "/api/library/open", {"path": str(project)})
            (known_library,) = place.ask("GET", "/api/registry")["libraries"]
            place.library = known_library["id"]
            yield place


@contextmanager
def _chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


def _sign_in(browser: Browser, place: Place) -> BrowserContext:
    """Return a browser that has a session and nothing in its cache."""
    code = place.ask("POST", "/api/pair/code", {"role": "owner", "browser": True})["code"]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.request.post(
        f"{place.address}/api/auth/session",
        data={"code": code, "name": "bench"},
        headers={"Origin": place.address},
    )
    return context


def _frames(page: Page, during: Callable[[], None]) -> list[float]:
    """Return the milliseconds between the frames while *during* goes on."""
    page.evaluate(GAPS)
    during()
    found: list[float] = page.evaluate("() => { window.counting = false; return frames_ }")
    return found[2:]


def _pan(page: Page, x: float, y: float) -> None:
    page.mouse.move(x, y)
    page.mouse.down()
    begun = page.evaluate("performance.now()")
    step = 0
    while page.evaluate("performance.now()") - begun < 1000 * PAN_SECONDS:
        step += 1
        page.mouse.move(x + 150 * math.sin(step / 9), y + 150 * math.cos(step / 7))
        if step % 40 == 0:
            page.mouse.wheel(0, -240 if step % 80 else 240)
    page.mouse.up()


def _mark(page: Page, name: str, begun: float) -> float:
    # Not wait_for_function: it evaluates strings in the page, which its Content-Security-Policy forbids at the second try.
    started: float | None = None
    while started is None:
        started = page.evaluate("(name) => performance.getEntriesByName(name)[0]?.startTime ?? null", name)
        page.wait_for_timeout(5)
    return (started - begun) / 1000


Figures = dict[str, float]


def _page_view(browser: Browser, place: Place) -> Figures:
    """Open the page from its project, pan it, choose lines, and correct them."""
    context = _sign_in(browser, place)
    page = context.new_page()
    page.goto(f"{place.address}/#/p/{place.library}")
    page.get_by_role("list", name="Contents").wait_for()
    page.wait_for_load_state("networkidle")
    begun = page.evaluate(
        "(to) => { location.hash = to; return performance.now() }", f"/p/{place.library}/page/{place.page}"
    )
    found = {"picture": _mark(page, "page.picture", begun), "shapes": _mark(page, "page.shapes", begun)}
    page.wait_for_load_state("networkidle")
    box = page.get_by_role("img", name="Picture of the page").bounding_box()
    assert box is not None
    frames = _frames(page, lambda: _pan(page, box["x"] + 300, box["y"] + 350))
    found["frames"] = 1000 / statistics.median(frames)
    found["choosing"] = statistics.median(page.evaluate(CHOOSE, "section.text li:nth-child(3n) > button"))
    found["correcting"] = _correct(page)
    context.close()
    return found


def _correct(page: Page) -> float:
    """Return the median milliseconds from Enter to the answer, over forty lines."""
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.evaluate(
        "() => { window.pressed = []; performance.clearResourceTimings(); performance.setResourceTimingBufferSize(5000);"
        "addEventListener('keydown', (event) => event.key === 'Enter' && pressed.push(event.timeStamp), true) }"
    )
    for number in range(CORRECTIONS):
        page.keyboard.press("Control+End")
        page.keyboard.type(f" {number}", delay=60)
        with page.expect_response(lambda answer: answer.url.split("?")[0].endswith("/correct")) as said:
            page.keyboard.press("Enter")
        said.value.finished()
        page.wait_for_timeout(300)
    spent: list[float] = page.evaluate(
        "() => performance.getEntriesByType('resource').filter((one) => one.name.split('?')[0].endsWith('/correct'))"
        ".map((one, index) => one.responseEnd - pressed[index])"
    )
    assert len(spent) == CORRECTIONS, len(spent)
    return statistics.median(spent)


def _svg_view(browser: Browser, place: Place) -> Figures:
    return _peer_view(browser, place, "", lambda page: page.evaluate(CHOOSE, "polygon:nth-child(9n)"))


def _annotorious_view(browser: Browser, place: Place) -> Figures:
    files = ("annotorious.js", "annotorious_page.js")
    scripts = "".join(f'<script src="{name}"></script>' for name in files)
    return _peer_view(browser, place, scripts, lambda page: page.evaluate(CHOOSE_BY_NUMBER))


def _peer_view(
    browser: Browser, place: Place, scripts: str, choose: Callable[[Page], list[float]]
) -> Figures:
    """Open, pan and choose on the same page as plain SVG, or as *scripts* show it."""
    context = _sign_in(browser, place)
    # Annotorious took 23 s until the picture was there, rendered by software.
    context.set_default_timeout(90_000)
    at = f"{place.address}/bench"
    files = {
        "page.html": ("text/html", PEER_PAGE + scripts),
        "viewer.js": ("text/javascript", VIEWER.read_text()),
        **{
            name: ("text/javascript", Path(__file__).with_name(name).read_text())
            for name in ("svg_page.js", "annotorious_page.js")
        },
    }
    if ANNOTORIOUS:
        built = (Path(ANNOTORIOUS) / "annotorious-openseadragon.js").read_text()
        files["annotorious.js"] = ("text/javascript", built)
    for name, (kind, body) in files.items():
        context.route(
            f"{at}/{name}",
            lambda route, kind=kind, body=body: route.fulfill(content_type=kind, body=body),
        )
    page = context.new_page()
    page.goto(f"{at}/page.html")
    page.wait_for_load_state("networkidle")
    begun = page.evaluate(
        "([id, project]) => { const begun = performance.now(); void openPage(id, project); return begun }",
        [place.page, str(place.project)],
    )
    found = {"picture": _mark(page, "page.picture", begun), "shapes": _mark(page, "page.shapes", begun)}
    page.wait_for_load_state("networkidle")
    found["frames"] = 1000 / statistics.median(_frames(page, lambda: _pan(page, 640, 400)))
    found["choosing"] = statistics.median(choose(page))
    context.close()
    return found


def _library(browser: Browser, place: Place) -> Figures:
    """Start with an empty cache, then scroll through the folder; memory is what the process of the page has for itself."""
    context = _sign_in(browser, place)
    page = context.new_page()
    page.goto(f"{place.address}/#/p/{place.library}/library/{place.folder}", wait_until="commit")
    page.get_by_role("list", name="Contents").get_by_role("listitem").first.wait_for()
    found = {"usable": page.evaluate("performance.now()") / 1000}
    page.wait_for_load_state("networkidle")

    def scroll() -> None:
        page.mouse.move(640, 500)
        for _ in range(200):
            page.mouse.wheel(0, 700)
            page.wait_for_timeout(16)

    found["gap"] = max(_frames(page, scroll))
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    found["memory"] = max(
        psutil.Process(process["id"]).memory_full_info().uss / 1e6
        for process in processes
        if process["type"] == "renderer"
    )
    context.close()
    return found


def measure(rounds: int) -> list[Result]:
    """Measure the workbench, and the same page as plain SVG, in turns; the median of the rounds."""
    if not VIEWER.is_file():
        raise RuntimeError("the web application is not built here; make base builds it")
    ours: list[Figures] = []
    theirs: list[Figures] = []
    annotorious: list[Figures] = []
    with serve_project() as place, _chromium() as browser:
        _page_view(browser, place), _svg_view(browser, place)
        for number in range(rounds):
            order = ((_page_view, ours), (_svg_view, theirs))
            for work, kept in order if number % 2 else reversed(order):
                kept.append(work(browser, place))
            ours[-1] |= _library(browser, place)
            if ANNOTORIOUS:
                annotorious.append(_annotorious_view(browser, place))
    load = f"Software rendering; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end."
    dense = f"a page of {SEGMENTS:,} segments"

    def bar(row: int, name: str, what: str, unit: str, limit: float, words: str) -> Result:
        figures = [mine[name] for mine in ours]
        engine = statistics.median(figures)
        bound: Bound = "at least" if name == "frames" else "at most"
        kept = [round(figure / limit, 3) for figure in figures]
        note = load if name in ("picture", "correcting", "usable") else ""
        return Result(row, what, unit, engine, limit, words, engine / limit, bound, 1, note, kept)

    def beside(name: str, what: str, unit: str, peers: list[Figures], words: str) -> Result:
        ratios = [mine[name] / other_peer[name] for mine, other_peer in zip(ours, peers, strict=True)]
        engine, peer = (statistics.median(one[name] for one in side) for side in (ours, peers))
        bound: Bound = "at least" if name == "frames" else "at most"
        kept = [round(ratio, 3) for ratio in ratios]
        return Result(
            44,
            f"{what}, beside {words}",
            unit,
            engine,
            peer,
            f"{words} in the same viewer",
            statistics.median(ratios),
            bound,
            None,
            "",
            kept,
        )

    opening = (
        ("picture", f"{dense}: the first picture", "s", 0.5, "half a second"),
        ("shapes", f"{dense}: the outlines", "s", 1.0, "a second"),
        ("frames", f"{dense}: panning and zooming for {PAN_SECONDS} s", "frames a second", 50, "50 a second"),
        ("choosing", f"{dense}: choosing a line", "ms", 50, "50 ms"),
    )
    return [
        *(bar(44, *one) for one in opening),
        *(
            beside(name, what, unit, peers, words)
            for peers, words in ((theirs, "plain SVG"), (annotorious, "Annotorious"))
            for name, what, unit, _, _ in opening
            if peers
        ),
        bar(45, "correcting", f"{dense}: from Enter to acknowledged", "ms", 60, "60 ms"),
        bar(45, "gap", f"a folder of {PAGES:,} pages: the longest gap while it scrolls", "ms", 100, "100 ms"),
        bar(45, "memory", f"a folder of {PAGES:,} pages: memory of its process", "MB", 300, "300 MB"),
        bar(46, "usable", "from a cold cache to a folder that is shown", "s", 1.5, "1.5 s"),
    ]
