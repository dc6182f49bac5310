"""No value that a caller sends becomes part of a statement: every listing answers what plain Python predicts."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest

from armarium.engine import Engine
from armarium.history import audit
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium.store.database import Database
from armarium_documents.queries.dataset import keeper, selection
from armarium_testing.fixtures import OWNER_TOKEN, http_client
from proofs.dataset_oracle import DatasetCases
from proofs.listing_oracles import LISTINGS, Cases
from proofs.listing_project import HARMFUL, ListingProject
from proofs.listings_proved_elsewhere import ELSEWHERE

FULL = 50_000

BESIDES = ("/api/engine", "/api/activity/jobs/")
"""Listings that look up something besides the answer: why the engine stays up, and what is above a watched job."""

Json = dict[str, Any]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListingProject]:
    folder = tmp_path_factory.mktemp("listings")
    engine = Engine(Settings(state_dir=folder / "state", owner_token=OWNER_TOKEN, library_roots=[folder]))
    engine.start(jobs=False)
    place = folder / "Listings.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    for client in http_client(engine, library):
        yield ListingProject(engine, client, library, folder)
    engine.close()


def faults(ground: ListingProject, number: int, seed: int) -> list[str]:
    """Send *number* generated requests, a third of them dataset queries; return the faults."""
    chance = random.Random(seed)
    cases, tables = Cases(ground, seed), DatasetCases(ground, seed)
    found: list[str] = []
    for _ in range(number):
        fault = tables.ask() if chance.random() < 0.34 else cases.ask(chance.choice(LISTINGS))
        if fault is not None:
            found.append(fault)
    return found


def summarise(found: list[str]) -> str:
    """Return the first faults, and how many there are."""
    return "\n".join([*found[:40], f"{len(found)} in all"]) if found else ""


def test_every_listing_has_an_oracle(ground: ListingProject) -> None:
    """A route whose answer contains a list, and that takes a parameter besides paging, must be among those tested here."""
    document = ground.client.get("/openapi.json").json()
    listed = {listing.path.split("{")[0] + listing.path.count("{") * "{}" for listing in LISTINGS}
    missing = []
    for path, operations in document["paths"].items():
        operation = operations.get("get")
        if operation is None or path in ELSEWHERE:
            continue
        taken = {
            parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"
        } - {
            "library",
            "limit",
            "offset",
            # The same rows of another moment: proved in plugins/source_model/tests/test_as_of_histories.py.
            "as_of",
        }
        content = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
        if not taken or not _holds_a_list(document, content.get("schema", {})):
            continue
        oracle = next((listing for listing in LISTINGS if listing.path == path), None)
        if oracle is None:
            missing.append(f"{path} has no oracle in listing_oracles.py")
        elif unknown := taken - set(oracle.filters) - set(oracle.orders):
            missing.append(f"{path}: nothing says what {', '.join(sorted(unknown))} leave out")
    assert not missing, "\n".join(missing)
    assert listed


def _holds_a_list(document: Json, schema: Json) -> bool:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return any(one.get("type") == "array" for one in schema.get("properties", {}).values())


def test_listings_answer_as_plain_python_does(ground: ListingProject) -> None:
    assert summarise(faults(ground, 700, 1)) == ""


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_fifty_thousand_requests(ground: ListingProject) -> None:
    assert summarise(faults(ground, FULL, 2)) == ""


def test_unknown_ids_in_paths_list_nothing(ground: ListingProject) -> None:
    for listing in LISTINGS:
        for value in HARMFUL if "{" in listing.path else ():
            answer = ground.client.get(listing.at(quote(value, safe="")))
            if answer.status_code == 200:
                assert answer.json().get(listing.key) in ([], None), f"{listing.path} {value!r}"
            assert answer.status_code < 500, f"{listing.path} {value!r}: {answer.text}"


def test_a_request_reads_one_snapshot(ground: ListingProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The items of an answer and its total are then of the same moment, whoever writes meanwhile."""
    read, get = Database.read, ground.client.get
    reads: list[str] = []
    several: set[str] = set()

    def count_snapshot(db: Database) -> Any:
        if db is ground.library.db:
            reads.append("read")
        return read(db)

    def watch_request(path: str, **given: Any) -> Any:
        reads.clear()
        answer = get(path, **given)
        if len(reads) > 1 and not path.startswith(BESIDES):
            several.add(f"{path} read {len(reads)} snapshots")
        return answer

    monkeypatch.setattr(Database, "read", count_snapshot)
    monkeypatch.setattr(ground.client, "get", watch_request)
    cases, tables = Cases(ground, 9), DatasetCases(ground, 9)
    for listing in LISTINGS:
        assert cases.ask(listing) is None
    assert tables.ask() is None
    for path in _plain_paths(ground):
        watch_request(path)
    assert not several, "\n".join(sorted(several))


def _plain_paths(ground: ListingProject) -> list[str]:
    """Yield the address of every GET of the description that answers JSON, for a page that has lines."""
    ids = defaultdict(
        lambda: ground.page,
        segment_id=ground.ids["segment"][0],
        pass_id=ground.passes[0],
        order_id=ground.orders[0],
        audit_id=ground.rows("SELECT id FROM audit ORDER BY seq LIMIT 1")[0][0],
        artifact_id=ground.rows("SELECT id FROM artifact ORDER BY id LIMIT 1")[0][0],
        job_id=ground.rows("SELECT id FROM job ORDER BY id LIMIT 1")[0][0],
    )
    found = []
    for path, operations in ground.client.get("/openapi.json").json()["paths"].items():
        answers = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if "application/json" in answers and "stream" not in path:
            found.append(path.replace(":path}", "}").format_map(ids))
    return found


# ---------------------------------------------------------------------------- faults that the proof must notice


class SplicingPolars:
    """Wraps polars so that every text that should be a literal is pasted into an expression."""

    def __getattr__(self, name: str) -> Any:
        return getattr(pl, name)

    def lit(self, value: Any) -> pl.Expr:
        return pl.sql_expr(f"'{value}'") if isinstance(value, str) else pl.lit(value)


def a_filter_forgotten(select: Callable[..., Any], name: str) -> Callable[..., Any]:
    return lambda conn, **given: select(conn, **{**given, name: None})


def test_a_value_put_into_an_expression_is_caught(
    ground: ListingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "pl", SplicingPolars())
    tables = DatasetCases(ground, 3)
    assert any(tables.ask() for _ in range(150))


def test_a_pattern_in_place_of_a_comparison_is_caught(
    ground: ListingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def like(needle: str) -> pl.Expr:
        return pl.col("folded").str.contains("(?s)" + re.escape(needle).replace("%", ".*").replace("_", "."))

    monkeypatch.setattr(selection, "_contains", like)
    tables = DatasetCases(ground, 4)
    assert any(tables.ask() for _ in range(1_500))


@pytest.mark.parametrize("name", ["set_id", "seq"])
def test_a_filter_that_is_forgotten_is_caught(
    ground: ListingProject, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(audit, "select_rows", a_filter_forgotten(audit.select_rows, name))
    cases = Cases(ground, 5)
    assert any(cases.ask(LISTINGS[0]) for _ in range(600))


def test_columns_in_a_file_are_proved_as_those_in_memory_are(
    ground: ListingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large projects are answered from a file, and here all requests are."""
    monkeypatch.setattr(keeper, "SAVED_ROWS", 1)
    ground.library.held.clear()
    tables = DatasetCases(ground, 6)
    assert [fault for fault in (tables.ask() for _ in range(150)) if fault] == []
    assert list((ground.library.derived_folder / "dataset").glob("*/values.arrow"))
