"""The coding rules that a machine can check, over every file of the checkout."""

from __future__ import annotations

import ast
import configparser
import importlib.metadata
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from checkout import ROOT, Dist, dists, families, files, imported_names, is_test, place, text

PYTHON = files(".py")
LONGEST = {"code": 400, "test": 600}
# written in pieces, so that this file does not contain what it looks for
OPEN_ENDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|raise NotImple" r"mentedError")
MACHINE_PATHS = re.compile(r"(?<![\w.:])/(wo" r"rk|ro" r"ot|fa" r"rm|Us" r"ers/\w+|ho" r"me/\w+)(/|\b)")
REGISTRIES = re.compile(
    "|".join(re.escape(".".join(host)) for host in [
        ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("debian", "org/debian"),
        ("yarnpkg", "com"), ("anaconda", "org"), ("download.pytorch", "org"), ("crates", "io"), ("docker", "io"),
    ])
)  # fmt: skip
PAPERS = re.compile(r"\bpart [ABC] \d|[( ][ABC] \d\.\d\b|\b(arch" r"itecture|qual" r"ity) \d|open[-]fields")
PROCESS_WIDE = re.compile(
    r"\b(field_size_limit|setlocale|chdir|setdefaulttimeout|setrecursionlimit|set_int_max_str_digits|seterr|register_namespace"
    r"|random\.seed|filterwarnings|simplefilter)\("
)
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"}


@cache
def installed_providers() -> Mapping[str, list[str]]:
    """Return which distributions bring each installed package: all that is installed is read for it."""
    return importlib.metadata.packages_distributions()


def lines_matching(pattern: re.Pattern[str], paths: tuple[Path, ...]) -> list[str]:
    return [
        f"{place(path)}:{number}: {line.strip()[:100]}"
        for path in paths
        if pattern.search(text(path))
        for number, line in enumerate(text(path).split("\n"), 1)
        if pattern.search(line)
    ]


@cache
def readable() -> tuple[Path, ...]:
    return tuple(path for path in files() if b"\0" not in path.read_bytes()[:4096])


def test_files_stay_short() -> None:
    long = [
        f"{place(path)} has {lines} lines, {limit} at most: make it a package with a file for each noun"
        for path in PYTHON
        if "migrations" not in path.parts
        if (lines := text(path).count("\n")) > (limit := LONGEST["test" if is_test(path) else "code"])
    ]
    assert not long, "\n".join(long)


def test_every_module_has_a_docstring() -> None:
    # a text before any statement
    opening = re.compile(r'(\s|#.*\n)*r?("""|")\s*[^\s"]')
    silent = [place(path) for path in PYTHON if not opening.match(text(path))]
    assert not silent, f"no opening sentence in: {', '.join(silent)}"


def test_no_open_ends_in_the_code() -> None:
    assert lines_matching(OPEN_ENDS, PYTHON) == []


def test_messages_name_things_and_not_routes() -> None:
    """Refusals are also read at the command line, so they name the thing and not the route for it."""
    verb = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\b")
    route = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) /api/")
    # A command that only asks a route names it, and nothing else.
    asked = re.compile(r"(GET|POST|PUT|PATCH|DELETE) /api/\S*")
    found = []
    for path in PYTHON:
        if not is_test(path) and "src" in path.parts and verb.search(text(path)) and "/api/" in text(path):
            tree = ast.parse(text(path))
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            # What a panel declares is no message.
            docs |= {
                id(inner)
                for node in ast.walk(tree)
                if isinstance(node, ast.keyword) and node.arg == "routes"
                for inner in ast.walk(node.value)
            }
            found += [
                f"{place(path)}:{node.lineno}: {node.value[:80]}"
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
                if route.search(node.value) and not asked.fullmatch(node.value)
            ]
    assert not found, "\n".join(found)


def test_families_change_no_process_wide_settings() -> None:
    """Families share one process: a process-wide setting of one would change how another reads its files."""
    sources = tuple(path for path in PYTHON if place(path).startswith("plugins/") and "src" in path.parts)
    assert lines_matching(PROCESS_WIDE, sources) == []


def test_nothing_refers_to_documents_outside_the_repository() -> None:
    """A rule is in our own docs or next to its code, where the reader of the comment can read it too."""
    assert lines_matching(PAPERS, readable()) == []


def test_no_path_of_a_development_machine() -> None:
    assert lines_matching(MACHINE_PATHS, readable()) == []


def test_no_package_registry_is_named() -> None:
    assert lines_matching(REGISTRIES, readable()) == []


def test_locks_contain_only_versions_and_hashes() -> None:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        said = text(lock)
        assert "://" not in said, f"{lock.name} holds an address"
        pins = re.findall(r"(?m)^([a-z0-9][\w.-]*)==", said)
        assert pins
        assert not {"torch", "torchvision", "kraken", "transformers"} & set(pins), (
            f"{lock.name} brings torch along"
        )
        assert said.count("--hash=") >= len(pins)


def test_the_dev_lock_is_the_base_lock_and_more() -> None:
    pins = {name: set(re.findall(r"(?m)^[a-z0-9].*==\S+", text(ROOT / "requirements" / name)))
            for name in ("base.txt", "dev.txt")}  # fmt: skip
    assert pins["base.txt"] < pins["dev.txt"]


def test_locks_cover_what_the_pyproject_files_ask_for() -> None:
    for dist in dists():
        lock = "dev.txt" if dist.name == "armarium-testing" else "base.txt"
        pinned = {name.replace("_", "-").lower()
                  for name in re.findall(r"(?m)^([a-zA-Z0-9][\w.-]*)==", text(ROOT / "requirements" / lock))}  # fmt: skip
        asked = {
            re.split(r"[^\w.-]", need)[0].replace("_", "-").lower() for need in dist.project["dependencies"]
        }
        missing = {name for name in asked if not name.startswith("armarium")} - pinned
        assert not missing, f"{dist.name} asks for {', '.join(sorted(missing))}: run make lock"


def test_no_module_has_a_vague_name() -> None:
    assert [place(path) for path in PYTHON if {path.stem, path.parent.name} & VAGUE_NAMES] == []


# Words in -ed that are verbs or nouns as they stand.
NOT_PARTICIPLES = {
    "bed", "deed", "embed", "exceed", "feed", "heed", "indeed", "need", "proceed", "read", "red", "seed", "shed", "speed", "succeed",
}  # fmt: skip
IRREGULAR_PARTICIPLES = {
    "asked", "begun", "bent", "bound", "broken", "brought", "built", "came", "chosen", "done", "drawn",
    "felt", "forbidden", "found", "frozen", "given", "gone", "grown", "heard", "held", "hidden", "kept",
    "known", "laid", "left", "lit", "lost", "made", "meant", "met", "misread", "paid", "ran", "rebuilt",
    "retold", "rewritten", "said", "seen", "sent", "shown", "spoken", "sold", "stolen", "struck",
    "taken", "taught", "thought", "thrown", "told", "took", "torn", "understood", "undone", "untold",
    "withdrawn", "withheld", "woken", "worn", "written",
}  # fmt: skip
# Names that stay, each with its reason.
BARE_PARTICIPLES = {
    "tracked": "the kind of a table, as a declaration reads it",
    "derived": "the kind of a table, as a declaration reads it",
    "written": "the model of an action's answer, made from its result: `written(Visit)`",
    "paged": "the model of a page of answers, made from their item: `paged(Visit)`",
    "listed": "the model of a list as an answer, made from its item: `listed(Visit)`",
    "known": "a route: its function's name is its operation id",
    "lit": "what polars calls a literal, for a double of it",
}


def is_bare_participle(name: str) -> bool:
    word = name.strip("_").lower()
    single = "_" not in word and sum(letter.isupper() for letter in name) <= 1
    return single and (word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and word not in NOT_PARTICIPLES))


def test_functions_and_classes_are_not_named_by_a_bare_participle() -> None:
    """A function is a verb with its object, a property or class a noun: `told` and `Kept` leave a reader to guess.

    Fixtures may be participles (`written`: the state a test starts from), and so may refusals and models of requests
    and answers, whose names are published as schema titles.
    """
    published = {"Message", "Params", "Sent", "BaseModel", "Frozen", "SegmentOut"}
    refusals = {
        "Exception",
        "BaseException",
        "ServiceError",
        "ConnectionError",
        "Conflict",
        "Invalid",
        "NotFound",
    }
    found = []
    named = re.compile(r"\b(?:def|class)\s+(\w+)")
    for path in PYTHON:
        if not any(
            is_bare_participle(name) for name in {*named.findall(text(path))} - BARE_PARTICIPLES.keys()
        ):
            continue
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
                allowed = bool(bases & (published | refusals))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                allowed = any("fixture" in ast.unparse(one) for one in node.decorator_list)
            else:
                continue
            if is_bare_participle(node.name) and not allowed and node.name not in BARE_PARTICIPLES:
                found.append(f"{place(path)}:{node.lineno} {node.name}")
    assert not found, "use names that say what they do or are: " + ", ".join(found)


@pytest.mark.parametrize("dist", dists(), ids=lambda dist: dist.name)
def test_a_distribution_has_readme_tests_and_types(dist: Dist) -> None:
    assert len(text(dist.folder / "README.md").split()) > 30, (
        f"{dist.name}: its README must say what it is and what it contains"
    )
    assert list(dist.folder.glob("tests/**/test_*.py")), f"{dist.name} has no tests"
    assert all((package / "py.typed").exists() for package in dist.packages)
    assert dist.project["license"] == "Apache-2.0"
    assert dist.project["requires-python"] == ">=3.11"


@pytest.mark.parametrize("dist", dists(), ids=lambda dist: dist.name)
def test_a_distribution_names_what_it_imports(dist: Dist) -> None:
    """What a module imports is listed in its own pyproject, not only in a neighbour's: third-party packages and our
    own.
    """
    ours = {package.name: [other_dist.name] for other_dist in dists() for package in other_dist.packages}
    # An extra that tests do without.
    optional = {"webview": ["pywebview"]}
    providers = {**optional, **installed_providers(), **ours}
    needs = {re.split(r"[^\w.-]", need)[0].replace("_", "-").lower() for need in dist.project["dependencies"]}
    if "armarium.commands" in dist.project.get("entry-points", {}):
        # Nothing but the command line imports commands.
        needs |= {"armarium-cli", "typer"}
    needs |= {dist.name, *(re.split(r"[^\w.-]", need)[0].lower()
                           for extra in dist.project.get("optional-dependencies", {}).values() for need in extra)}  # fmt: skip
    in_runtimes = {
        "torch",
        "torchvision",
        "kraken",
        "transformers",
        "peft",
        "onnx",
        "faster_whisper",
        "sentence_transformers",
        "lightning",
    }
    unnamed = set()
    for path in dist.modules:
        for name in (
            {full.split(".")[0] for full in imported_names(path)} - set(sys.stdlib_module_names) - in_runtimes
        ):
            owners = {owner.replace("_", "-").lower() for owner in providers.get(name, [name])}
            if not owners & needs:
                unnamed.add(f"{place(path)} imports {name}")
    in_tests_only = {
        entry for entry in unnamed if "testing/" in entry and entry.endswith((" pytest", " hypothesis"))
    }
    assert unnamed - in_tests_only == set()


def test_import_contracts_cover_every_family() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    expected = {package.name for dist in dists() for package in dist.packages}
    assert set(contracts["importlinter"]["root_packages"].split()) == expected
    tiers = set(re.findall(r"\w+", contracts["importlinter:contract:tiers"]["layers"]))
    assert tiers == expected
    with_rooms = {
        package.name for dist in families() for package in dist.packages if (package / "plugin.py").exists()
    }
    assert with_rooms == set(contracts["importlinter:contract:rooms"]["containers"].split())
    at_the_door = contracts["importlinter:contract:core-door"]["ignore_imports"]
    assert all(
        f"{package.name}.** -> armarium.api" in at_the_door
        for dist in families()
        for package in dist.packages
    )


def test_the_meta_distribution_pins_every_part() -> None:
    meta = Dist(ROOT).project
    assert set(meta["dependencies"]) == {
        f"{dist.name}=={meta['version']}"
        for dist in dists()
        if dist.name not in ("armarium-worker", "armarium-testing")
    }
    assert {dist.project["version"] for dist in dists()} == {meta["version"]}


def test_the_changelog_begins_with_the_version_of_the_checkout() -> None:
    released = re.search(r"^## (\S+), \d{4}-\d{2}-\d{2}$", text(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert released is not None
    assert released[1] == Dist(ROOT).project["version"]


@pytest.mark.parametrize("page", files(".md"), ids=place)
def test_links_between_documents_work(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text(page)):
        file, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (page.parent / file).resolve() if file else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(text(there))):
            broken.append(target)
    assert broken == []


def anchors(markdown: str) -> set[str]:
    titles = re.findall(r"(?m)^#+ (.+)$", markdown)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_the_root_documents_exist() -> None:
    for name in (
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE",
        "docs/README.md",
    ):
        assert (ROOT / name).exists(), name
    assert text(ROOT / "ARCHITECTURE.md").count("\n") <= 300


def test_only_permissive_licences_in_the_base_install() -> None:
    pins = re.findall(r"(?m)^([a-zA-Z0-9][\w.-]*)==", text(ROOT / "requirements" / "base.txt"))
    copyleft = {}
    for name in pins:
        try:
            about = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform
        said = [about.get("License-Expression") or about.get("License") or ""]
        said += [line for line in about.get_all("Classifier") or [] if line.startswith("License")]
        if re.search(r"\b[AL]?GPL|GNU|EUPL|CC-BY-NC", " ".join(said)[:400]):
            copyleft[name] = said
    assert copyleft == {}
