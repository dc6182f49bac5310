"""What the engine says at the workbench, against the catalogue that says it in Spanish."""

from __future__ import annotations

import ast
import json
import re
import sys
import typing
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from pydantic_core import PydanticKnownError, core_schema

from armarium.messages import plain_fault
from armarium.plugins.registry import find_plugins
from armarium_formats.driver import CALLED
from armarium_recipes.knowledge.purposes import PURPOSES

sys.path.insert(0, str(Path(__file__).parent))

from losses_in_code import find_losses

ROOT = Path(__file__).parents[3]
CATALOGUE = Path(__file__).parent.parent / "web" / "src" / "lib" / "i18n" / "languages" / "es.engine.json"
SLOT = re.compile(r"\{\w*(?:\|([^}]*))?[^{}]*\}")
SENTENCE = re.compile(r"[A-Z“{].* .*[.?!]|[A-Z“][^.:]* .*[.:] \{\}(?: \{\})?", re.DOTALL)
NO_SENTENCE = re.compile(
    r"^There is no \{\} \{\}( in this project)?\. \{\}$| IS NULL|AND |FROM |SELECT |UPDATE | \?|\n|derive it from|snapshot` first"
    # What is asked of models.
    r"|These are the lines|Give your reasons|[Tt]his line|[Ee]ach line (into|in)|one line of a |You work on|What stands between"
)
ELSEWHERE = re.compile(
    r"""core/.*/armarium/(plugins/|plugin_trial|serving|client|auth/(sandbox|secret_files)
          |history/(as_of|audit|capture|changes|derived|merge_plans|row_images|schema|visible_rows)|jobs/(recipe_jobs|activity)
          |projects/(doctor|branch_files|offsite|packages|registry)|guard/(tiff|places|hypertext)
          |runs/|web/(metrics|openapi|addresses|serving|app|stream_routes|http|times))
      |plugins/(canvas|demo|far_worker|iiif|workbench)/|plugins/agents/.*/(mcp|actions)
      |plugins/training/.*/(cli_models|compute_|packing|actions/scale|jobs/(far|scale))
      |plugins/reading/.*/(proving|sample_transcriber|providers/anthropic)|plugins/workflows/.*/(graph|paths|chaining|stream|system)
      |plugins/formats/.*/(verifying|trial|inspecting|catalogue|receiving|mets/|driver|decoding|turning)
      |plugins/source_model/.*/(cer|boxes|actions/(links|matches|settings|convert)|queries/(links|settings|compare))
      |plugins/sync/.*/(disk|arranging|looking|carrying|actions)|plugins/georeference/.*/(gazetteer|routes|planes)
      |plugins/documents/.*/(stated_geometry|carrying|dates/|actions/(artifacts|annotating|classifications|transfer))
      |plugins/(knowledge|search)/.*/(reconciliation|carrying|compiling)|plugins/checking/.*/asking
      |plugins/paleography/.*/(exporting|routes)|plugins/recipes/.*/(cards/discovery|routes)|plugins/exports/.*/rendering/
      |/cli(?:[/_]|\.py)|/hookspecs\.py|/migrations|/prompts?\.py|/instructions\.py""",
    re.VERBOSE,
)
"""Where nobody at the workbench is spoken to: makers of plugins, programs and the command line are, and what it does not offer."""

VALIDATING = re.compile(
    r"(?!plugins/(canvas|far_worker)/).*(/(schemas|records)(/.*)?\.py|/armarium/(names/proper|messages)\.py|/dates/edtf\.py)"
)
"""Where what is sent is checked, save what the workbench never sends: what a ValueError says there comes after the name of the value."""

INTERNAL = {
    *(
        "execute",
        "exec_driver_sql",
        "executemany",
        "compile",
        "ValueError",
        "RuntimeError",
        "TypeError",
        "OSError",
        "KeyError",
    ),
    *(
        "info",
        "debug",
        "warning",
        "error",
        "exception",
        "rows",
        "tracked",
        "listed",
        "paged",
        "Migration",
        "Field",
    ),
    *(
        "Query",
        "Path",
        "Header",
        "Tool",
        "Prompt",
        "Resource",
        "ProtocolError",
        "note",
        "note_fault",
        "add_argument",
    ),
    *("identity", "words", "choice", "whole", "part_of", "ToolRefused", "StepRule", "Finding"),
}
DESCRIBING = {
    "summary",
    "description",
    "label",
    "help",
    "about",
    "words",
    "source",
    "doc",
    "__doc__",
    "compare",
    "name",
}


def form_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return SLOT.sub("{}", node.value).strip()
    if isinstance(node, ast.JoinedStr):
        said = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        return "".join(said).replace("{{}}", "{}").strip()
    return None


def is_said(form: str) -> bool:
    """Whether *form* is a sentence for people, and tells itself from others by what stands outside its blanks."""
    letters = len(re.sub(r"[^a-z]", "", form))
    return (
        bool(SENTENCE.fullmatch(form))
        and not NO_SENTENCE.search(form)
        and letters >= (6 if form[0] == "{" else 4)
    )


def titles_in(node: ast.AST) -> Iterator[str]:
    """What a job is called, where that is stated at once."""
    form = form_of(node)
    if form is not None and len(re.sub("[^a-z]", "", form)) >= 6:
        yield form


def missed_by(call: ast.Call, called: str) -> Iterator[str]:
    """The nouns whose unknown ids *call* makes a refusal of, which is put together of these."""
    values_by_arg = {keyword.arg: keyword.value for keyword in call.keywords}
    if called == "missing" and isinstance(call.args[0], ast.Constant):
        yield str(call.args[0].value)
    elif called == "record" and "hint" in values_by_arg:
        labels = (
            keyword.value
            for arg in call.args
            if isinstance(arg, ast.Call)
            for keyword in arg.keywords
            if keyword.arg == "label"
        )
        yield from (str(label.value) for label in labels if isinstance(label, ast.Constant))


def forms_in(node: ast.AST, loss: bool = False) -> Iterator[str]:
    """The sentences beneath *node*, and whatever a call says is lost."""
    form = form_of(node)
    if form is not None:
        if is_said(form) or (loss and form):
            yield form
        parts = node.values if isinstance(node, ast.JoinedStr) else ()
        for part in parts:
            if isinstance(part, ast.FormattedValue):
                yield from forms_in(part.value)
        return
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "title"
    ):
        yield from titles_in(node.value)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr):
        return
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in INTERNAL:
            return
        if called == "enqueue":
            yield from (
                title
                for keyword in node.keywords
                if keyword.arg == "title"
                for title in titles_in(keyword.value)
            )
        if called == "Runtime":
            yield from (form_of(keyword.value) or "" for keyword in node.keywords if keyword.arg == "summary")
        for noun in missed_by(node, called):
            yield f"There is no {noun} {{}} in this project."
        loss = called in ("lose", "Loss")
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.keyword):
            yield from forms_in(child, loss)
        elif child.arg not in DESCRIBING:
            yield from forms_in(child.value, loss)


def raised_in(tree: ast.Module) -> Iterator[str]:
    """What the ValueErrors of a module say, where it is stated at once."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            form = form_of(node.exc.args[0])
            if getattr(node.exc.func, "id", "") == "ValueError" and form is not None and " " in form:
                yield form


def said_of_providers(tree: ast.Module) -> Iterator[str]:
    """What is said after the name of a provider that failed: at once, or returned by the function that tells why it refused."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "provider_failed":
            yield from filter(None, map(form_of, node.args[1:]))
        elif isinstance(node, ast.FunctionDef) and node.name == "_why_refused":
            returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return))
            yield from filter(None, (form_of(value) for value in returned if value is not None))


def spellings_in(tree: ast.Module) -> Iterator[str]:
    """What texts in requests should be, by their pattern."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Spelling":
            form = form_of(node.args[1])
            if form is not None:
                yield form


@pytest.fixture(scope="module")
def spanish() -> dict[str, dict[str, str]]:
    said: dict[str, dict[str, str]] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return said


@pytest.fixture(scope="module")
def sentences() -> dict[str, Path]:
    """Each sentence of the code, and the module that says it last."""
    found: dict[str, Path] = {}
    for path in sorted(
        [
            *ROOT.glob("core/src/**/*.py"),
            *ROOT.glob("worker/src/**/*.py"),
            *ROOT.glob("plugins/*/src/**/*.py"),
        ]
    ):
        if not ELSEWHERE.search(path.relative_to(ROOT).as_posix()):
            for form in forms_in(ast.parse(path.read_text(encoding="utf-8"))):
                found[form] = path.relative_to(ROOT)
    return found


@pytest.fixture(scope="module")
def unfit_values() -> set[str]:
    """What our own checks of values in requests say, and what workers say of readers that break their contract."""
    said: set[str] = set()
    for path in sorted([*ROOT.glob("core/src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix()
        if VALIDATING.fullmatch(place):
            said.update(f"{form.removesuffix('.')}." for form in raised_in(tree))
        said.update(f"should be {form}." for form in spellings_in(tree))
        if "/armarium_reading/providers/" in place:
            said.update(f"{{}} {form}" for form in said_of_providers(tree))
    for path in sorted(ROOT.glob("worker/src/**/*.py")):
        forms = raised_in(ast.parse(path.read_text(encoding="utf-8")))
        said.update(f"ValueError: {form}" for form in forms)
    return said


@pytest.fixture(scope="module")
def losses() -> set[str]:
    """What exports say is lost, and why."""
    found: set[str] = set()
    for distribution in sorted(ROOT.glob("plugins/*/src")):
        trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(distribution.rglob("*.py"))]
        found.update(form for value in find_losses(trees) for form in forms_in(value, loss=True))
    found.discard("{}: {}")  # Marks: these are their kinds and words.
    for kind in {*CALLED.values(), "mark"}:
        found |= {f"1 {kind}", f"{{}} {kind}s", f"1 {kind}: {{}}", f"{{}} {kind}s: {{}}"}
    return found


def labels() -> dict[str, str]:
    """What the readers, formats, trainers and providers that come with us are called, by entry point."""
    entries = {
        (entry.group, entry.name): entry
        for distribution in distributions()
        if distribution.metadata["Name"].startswith("armarium-")
        for entry in distribution.entry_points
        if entry.group.startswith("armarium.")
    }
    called = {
        f"{group} {name}": getattr(entry.load(), "label", None) for (group, name), entry in entries.items()
    }
    return {name: label for name, label in called.items() if isinstance(label, str)}


NO_FAULT_OF_JSON = re.compile(
    r"(attribute|dataclass|frozen|named_tuple|argument|callable|is_(instance|subclass)|iter|counter|deque|ordered|recursion"
    r"|default_factory|needs_python|sentinel|ellipsis|hashable|mapping|json_|bytes_|complex|fraction|decimal|uuid|url_|date|time"
    r"|value_error|assertion)"
)
"""Faults of Python's own objects, of types that no request of ours has, and those whose sentence is ours."""


def faults() -> Iterator[str]:
    """What pydantic says of a value in a request."""
    for kind in typing.get_args(core_schema.ErrorType):
        if kind != "model_attributes_type" and NO_FAULT_OF_JSON.search(kind):
            continue
        context: dict[str, typing.Any] = {}
        while True:
            try:
                template = PydanticKnownError(kind, context or None).message_template
            except TypeError as error:
                # It names what it lacks, or what must be a text and no number.
                missing = re.search(r"'(\w+)'", str(error).partition(":")[2])
                if missing is None:
                    raise
                context[missing[1]] = "x" if missing[1] in context else 1
                continue
            break
        for plural in {"", "s"} if "{expected_plural}" in template else {""}:
            yield SLOT.sub("{}", template.replace("{expected_plural}", plural)) + "."


def test_every_sentence_that_somebody_can_meet_is_said_in_spanish(
    spanish: dict[str, dict[str, str]], sentences: dict[str, Path], losses: set[str]
) -> None:
    known = {form for part in spanish.values() for form in part}
    assert [f"{path}: {form}" for form, path in sentences.items() if form not in known] == []
    assert losses - known == set()


def test_what_is_wrong_with_a_value_is_said_in_spanish(spanish: dict[str, dict[str, str]]) -> None:
    said = {*faults(), plain_fault("JSON decode error") + ".", "And {} more.", "Input should be {} or {}."}
    assert said ^ set(spanish["validation"]) == set()


def test_what_is_wrong_with_a_value_by_our_own_checks_is_said_in_spanish(
    spanish: dict[str, dict[str, str]], unfit_values: set[str]
) -> None:
    assert unfit_values ^ set(spanish["values"]) == set()


def test_what_our_drivers_and_purposes_are_called_is_said_in_spanish(
    spanish: dict[str, dict[str, str]],
) -> None:
    known = {form for part in spanish.values() for form in part}
    assert [f"{name}: {label}" for name, label in labels().items() if label not in known] == []
    assert {
        text for purpose in PURPOSES.values() for text in (purpose.title, purpose.description)
    } - known == set()


def test_nothing_is_translated_that_is_said_no_more(
    spanish: dict[str, dict[str, str]], sentences: dict[str, Path], losses: set[str]
) -> None:
    of_data = {
        "blanks",
        "phrases",
        "settings",
        "history",
        "jobs",
        "purposes",
        "doubt",
        "labels",
        "validation",
        "values",
    }
    said = {form for part, forms in spanish.items() if part not in of_data for form in forms}
    assert sorted(said - set(sentences) - losses) == []


def test_the_history_and_what_plugins_bring_can_be_read_in_spanish(
    spanish: dict[str, dict[str, str]],
) -> None:
    plugins = find_plugins(None).loaded
    assert {plugin.summary for plugin in plugins} - set(spanish["settings"]) == set()
    known = {form for part in spanish.values() for form in part}
    facts = ROOT / "plugins/recipes/src/armarium_recipes/cards/facts.json"
    notes = re.findall(r'"(?:note|needs_weights)": "([^"]+)"', facts.read_text(encoding="utf-8"))
    assert set(notes) - known == set()
    assert {job.name for plugin in plugins for job in plugin.recipe_jobs} - known == set()
    actions = [action for plugin in plugins for action in plugin.actions]
    words = [
        action.words for action in actions if action.scope == "library" and isinstance(action.words, str)
    ]
    blanks = {noun for template in words for noun in SLOT.findall(template) if noun}
    assert {SLOT.sub("{}", template) for template in words} - set(spanish["history"]) == set()
    assert blanks - set(spanish["blanks"]) == set()
