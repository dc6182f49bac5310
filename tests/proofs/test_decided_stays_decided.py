"""Decided stays decided: after random decisions of a person, every job of every family runs again and leaves each of them."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from decided_world import NOT_RERUN, TRUTH, Provider, World

from armarium.api import Engine, Library


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with every installed family."""
    return make_engine()


@pytest.fixture
def world(engine: Engine, library: Library, client: Any, tmp_path: Path) -> Iterator[World]:
    """A project in which every recipe job has run."""
    with Provider(TRUTH) as provider:
        new_world = World(engine, library, client, tmp_path / "grounds")
        new_world.set_up(provider)
        yield new_world


def hold(world: World, seed: int, decisions: int) -> None:
    """Decide, let the machines run again, and compare."""
    chance = random.Random(seed)
    world.decide(chance, decisions)
    kinds = {fact.words.partition(":")[0] for fact in world.facts}
    assert len(kinds) > min(decisions, 40) // 8, kinds
    world.run_again(chance)
    broken = [
        (fact.words, fact.wanted, found) for fact in world.facts if (found := fact.look()) != fact.wanted
    ]
    assert broken == [], f"seed {seed}"


def test_no_rerun_of_any_job_goes_against_a_person(world: World) -> None:
    assert set(NOT_RERUN) < set(world.engine.recipe_jobs)
    assert len(world.grounds) > 20
    hold(world, 1, 60)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_rerun_goes_against_many_decisions(world: World, seed: int) -> None:
    hold(world, seed, 150)
