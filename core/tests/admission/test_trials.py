"""Verdicts are stored by fingerprint; errors name the plugin they come from; an author sees all faults of a plugin."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from armarium.engine import Engine
from armarium.errors import BadRequest, NotFound
from armarium.plugin import Plugin
from armarium.plugins import verdicts
from armarium.plugins.check import check
from armarium.plugins.drivers import Drivers
from armarium.plugins.offers import Offer, find_offers, quietly
from armarium.plugins.registry import PluginRegistry
from armarium.plugins.verdicts import Trials
from armarium.settings import Settings
from armarium.store.database import raw_of
from armarium_cli.program import build
from armarium_cli.refusals import Refused
from armarium_cli.scaffold import write_family

from .admission_fixtures import plugins_on_path
from .broken_plugins import MILD, write_all

SOUND = """
from fastapi import APIRouter
from armarium.api import *

router = APIRouter()

@router.get("/api/broken-sound/fail")
def fail():
    return {}["nothing"]

@router.get("/api/broken-sound/leave")
def leave():
    raise SystemExit(3)

def work(job):
    return {}["nothing"]

class Counted(Message):
    count: int

@router.get("/api/broken-sound/count", response_model=Counted)
def count():
    return {"count": "many"}

def answer_wrongly(job):
    return {"set": object()}

def answer_a_list(job):
    return ["one"]

class Nothing(Params):
    pass

@action("sound.say", summary="Says what cannot be sent", words="Said it")
def say(ctx: ActionContext, p: Nothing) -> dict:
    return {"what": object()}

@hookimpl
def armarium_plugin():
    kinds = tuple(
        JobKind(name=name, lane="cpu", summary="Fails", run=run)
        for name, run in (("sound-work", work), ("sound-wrong", answer_wrongly), ("sound-list", answer_a_list))
    )
    return Plugin(
        name="sound", summary="Fails when it is asked", routers=(router,), jobs=kinds, actions=(say,),
        prefixes=("sound", "broken-sound"),
    )
"""


def admit_untried(site: Path) -> PluginRegistry:
    """Return a registry with the core and the plugin above, loaded from a file without a trial."""
    from armarium.plugins.registry import find_plugins

    site.mkdir()
    (site / "broken_sound.py").write_text(SOUND, encoding="utf-8")
    registry = find_plugins(None, [])
    entry = EntryPoint("sound", "broken_sound", "armarium.plugins")
    with plugins_on_path(site):
        assert registry.take(entry, Offer("broken-sound", (entry,))) is not None
    registry.settle()
    return registry


def test_an_error_of_a_plugin_is_answered_with_its_name_and_place(make_engine: Any, tmp_path: Path) -> None:
    from armarium_testing.fixtures import http_client

    engine: Engine = make_engine(plugins=admit_untried(tmp_path / "site"))
    for client in http_client(engine):
        failed = client.get("/api/broken-sound/fail")
        assert (failed.status_code, failed.json()["code"]) == (500, "internal_error")
        assert "inside the plugin sound (KeyError in broken_sound.py, line 9)" in failed.json()["detail"]
        assert "log" not in failed.json()["detail"]
        answer = client.get("/api/broken-sound/leave")
        assert "inside the plugin sound (SystemExit in broken_sound.py, line 13)" in answer.json()["detail"]
        answer = client.get("/api/broken-sound/count")
        assert answer.json()["detail"] == (
            "What the plugin sound answered is not what its route declares. What was done stays; report it: "
            "GET /api/broken-sound/count."
        )
        assert client.get("/api/health").status_code == 200
        faults = {fault["name"]: fault["why"] for fault in client.get("/api/plugins").json()["faults"][:1]}
        assert faults == {
            "sound": "GET /api/broken-sound/fail failed with KeyError in broken_sound.py, line 9."
        }


def test_an_action_that_answers_what_cannot_be_sent_changes_nothing(make_engine: Any, tmp_path: Path) -> None:
    from armarium.errors import Broken
    from armarium.principals import LOCAL_OWNER

    engine: Engine = make_engine(plugins=admit_untried(tmp_path / "site"))
    place = tmp_path / "A.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    with pytest.raises(
        Broken, match=r"sound\.say of the plugin sound answers what is no JSON object\. Nothing was"
    ):
        engine.run(library, "sound.say", {}, LOCAL_OWNER)
    with library.db.read() as conn:
        count = "SELECT count(*) FROM audit WHERE action_name = 'sound.say'"
        assert raw_of(conn).execute(count).fetchone() == (0,)
    assert [fault.name for fault in engine.plugins.faults] == ["sound"]


@pytest.mark.parametrize("kind", ["sound-wrong", "sound-list"])
def test_a_job_whose_result_is_no_json_object_fails_and_names_the_plugin(
    make_engine: Any, tmp_path: Path, kind: str
) -> None:
    from armarium.jobs.queue import NewJob, enqueue
    from armarium.principals import LOCAL_OWNER

    engine: Engine = make_engine(plugins=admit_untried(tmp_path / "site"))
    place = tmp_path / "A.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    with library.db.write() as conn:
        job_id = enqueue(conn, NewJob(kind, {}, "Work"), kinds=engine.jobs.kinds)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        state, reason = (
            raw_of(conn).execute("SELECT state, reason FROM job WHERE id = ?", (job_id,)).fetchone()
        )
    assert (state, "inside the plugin sound (TypeError" in reason) == ("failed", True)
    assert [fault.name for fault in engine.plugins.faults] == ["sound"]


def test_a_job_that_fails_names_the_plugin(make_engine: Any, tmp_path: Path) -> None:
    from armarium.principals import LOCAL_OWNER

    engine: Engine = make_engine(plugins=admit_untried(tmp_path / "site"))
    place = tmp_path / "A.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    with library.db.write() as conn:
        from armarium.jobs.queue import NewJob, enqueue

        enqueue(conn, NewJob("sound-work", {}, "Work"), kinds=engine.jobs.kinds)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        raw = raw_of(conn)
        (reason,) = raw.execute("SELECT reason FROM job WHERE kind = 'sound-work'").fetchone()
    assert "inside the plugin sound (KeyError in broken_sound.py, line 16)" in reason


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Runs no trial: records which plugins would have had one, and accepts all except those called bad-…"""
    tried: list[list[str]] = []

    def pretend(wanted: Any, beside: Any, known: Any, seconds: float) -> dict[str, dict[str, str]]:
        tried.append([offer.key for offer in wanted])
        return {
            offer.key: {"armarium.plugins:it": "It is bad."} if offer.key.startswith("bad") else {}
            for offer in wanted
        }

    monkeypatch.setattr(verdicts, "try_out", pretend)
    return tried


def list_offers(site: Path, *names: str, version: str = "1") -> list[Offer]:
    site.mkdir(exist_ok=True)
    for name in names:
        file = site / f"broken_{name}.py"
        if not file.exists():
            file.touch()
    entries = {name: EntryPoint("it", f"broken_{name}", "armarium.plugins") for name in names}
    return [Offer(name, (entry,), stamp=(version,)) for name, entry in entries.items()]


def test_what_passed_is_not_tried_again_until_a_file_changes(no_process: Any, tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    with plugins_on_path(tmp_path / "site"):
        first = Trials(file)
        assert first.find_failures(list_offers(tmp_path / "site", "one", "bad")) == {
            ("bad", "armarium.plugins:it"): "It is bad."
        }
        first.save()
        second_trials = Trials(file)
        assert second_trials.find_failures(list_offers(tmp_path / "site", "one", "bad")) == {
            ("bad", "armarium.plugins:it"): "It is bad."
        }
        assert no_process == [["one", "bad"]]
        (tmp_path / "site" / "broken_one.py").write_text("x = 1\n", encoding="utf-8")
        Trials(file).find_failures(list_offers(tmp_path / "site", "one"))
        assert no_process[1:] == [["one"]]
        Trials(file).find_failures(list_offers(tmp_path / "site", "bad", version="2"))
        assert no_process[2:] == [["bad"]]


def test_a_refused_plugin_is_tried_again_when_something_was_installed(
    no_process: Any, tmp_path: Path
) -> None:
    file = tmp_path / "verdicts.json"
    with plugins_on_path(tmp_path / "site"):
        first = Trials(file)
        first.find_failures(list_offers(tmp_path / "site", "one", "bad"))
        first.save()
        (tmp_path / "site" / "what_it_lacked.py").touch()
        Trials(file).find_failures(list_offers(tmp_path / "site", "one", "bad"))
    assert no_process[1:] == [["bad"]]


@pytest.mark.parametrize(
    "kept", ["", "{", "[]", '{"format": 1}', '{"format": 1, "verdicts": {"one": 3}}', "\x00"]
)
def test_an_unreadable_file_of_verdicts_makes_all_trials_run_again(
    no_process: Any, tmp_path: Path, kept: str
) -> None:
    file = tmp_path / "verdicts.json"
    file.write_text(kept, encoding="utf-8")
    trials = Trials(file)
    assert trials.find_failures(list_offers(tmp_path / "site", "one")) == {}
    assert no_process == [["one"]]
    trials.save()
    assert list(json.loads(file.read_text(encoding="utf-8"))["verdicts"]) == ["one"]


def test_two_engines_that_write_their_verdicts_keep_both(no_process: Any, tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    trials, second_trials = Trials(file), Trials(file)
    trials.find_failures(list_offers(tmp_path / "site", "one"))
    second_trials.find_failures(list_offers(tmp_path / "site", "two"))
    trials.save()
    second_trials.save()
    assert set(json.loads(file.read_text(encoding="utf-8"))["verdicts"]) == {"one", "two"}
    assert [path.name for path in tmp_path.glob(".plugin*")] == []


def test_a_folder_that_takes_no_file_is_no_reason_to_stop(no_process: Any, tmp_path: Path) -> None:
    (tmp_path / "verdicts.json").mkdir()
    for file in (tmp_path / "verdicts.json", tmp_path / "nowhere" / "verdicts.json"):
        trials = Trials(file)
        assert trials.find_failures(list_offers(tmp_path / "site", "one")) == {}
        trials.save()
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("site", "verdicts.json")] == []


def test_a_command_finds_the_verdicts_of_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SERVICE_PLUGIN_TRIALS", "SERVICE_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert Trials.of_environment().file == Settings().verdicts
    monkeypatch.setenv("SERVICE_STATE_DIR", str(tmp_path))
    assert Trials.of_environment().file == Settings().verdicts == tmp_path / "plugin-trials.json"
    monkeypatch.setenv("SERVICE_PLUGIN_TRIALS", str(tmp_path / "elsewhere.json"))
    monkeypatch.setenv("SERVICE_PLUGIN_TRIAL_SECONDS", "2.5")
    found = Trials.of_environment()
    assert (found.file, found.seconds) == (Settings().verdicts, Settings().plugin_trial_seconds)
    assert found.seconds == 2.5


def test_only_third_party_plugins_are_tried(no_process: Any, tmp_path: Path) -> None:
    (stranger,) = list_offers(tmp_path / "site", "one")
    Trials(None).find_failures([Offer("ours", stranger.entries, first_party=True), stranger])
    assert no_process == [["one"]]


def test_all_of_this_release_is_ours_and_what_another_release_left_behind_is_not(tmp_path: Path) -> None:
    for name, version in (("formats", "0.0.9"), ("reading", metadata.version("armarium-reading"))):
        about = tmp_path / f"armarium_{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: armarium-{name}\nVersion: {version}\n", encoding="utf-8"
        )
        (about / "entry_points.txt").write_text(f"[armarium.plugins]\n{name} = x\n", encoding="utf-8")
    assert {offer.key: offer.first_party for offer in find_offers([str(tmp_path)])} == {
        "armarium-formats": False,
        "armarium-reading": True,
    }


def test_where_no_trial_can_run_ours_are_loaded_and_third_party_ones_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    (stranger,) = list_offers(tmp_path / "site", "one")
    ours = Offer("ours", stranger.entries, first_party=True)
    failed = Trials(None).find_failures([ours, stranger])
    assert set(failed) == {("one", "armarium.plugins:it")}
    assert "could not be tried" in failed["one", "armarium.plugins:it"]


def test_what_an_import_prints_and_reads_is_discarded(capsys: pytest.CaptureFixture[str]) -> None:
    with quietly():
        print("{}")
        with pytest.raises(EOFError):
            input("Password: ")
    assert capsys.readouterr().out == ""


def drivers_of(*offers: Offer, homes: dict[str, str]) -> Drivers:
    plugins = PluginRegistry()
    plugins.offers = list(offers)
    for name, distribution in homes.items():
        plugins.loaded.append(Plugin(name=name, summary="Formats", driver_groups=("armarium.formats",)))
        plugins.distributions[name] = distribution
    return Drivers(plugins)


def a_format(distribution: str, name: str, *, ours: bool = False) -> Offer:
    return Offer(distribution, (EntryPoint(name, "json:JSONDecoder", "armarium.formats"),), first_party=ours)


def test_driver_names_go_to_the_groups_family_then_to_ours_and_to_neither_of_two_third_parties() -> None:
    drivers = drivers_of(
        a_format("a-thief", "pagexml"),
        a_format("a-thief", "alto"),
        a_format("z-home", "pagexml"),
        a_format("ours", "alto", ours=True),
        a_format("one", "both"),
        a_format("two", "both"),
        homes={"formats": "z-home"},
    )
    group = "armarium.formats"
    assert drivers.names(group) == ["alto", "pagexml"]
    assert drivers.distribution_of(group, "pagexml") == "z-home"
    assert drivers.distribution_of(group, "alto") == "ours"
    refused = {(refusal.name, refusal.distribution): refusal.why for refusal in drivers.refusals(group)}
    assert set(refused) == {("pagexml", "a-thief"), ("alto", "a-thief"), ("both", "one"), ("both", "two")}
    assert "comes with z-home; names are never overwritten" in refused["pagexml", "a-thief"]
    assert "Several provide a format of this name (one, two)" in refused["both", "one"]
    assert set(drivers.list_refused(group)) == {"pagexml (a-thief)", "alto (a-thief)", "both"}


def test_a_family_that_is_written_passes_the_check(tmp_path: Path) -> None:
    write_family("my_notes", tmp_path / "my_notes")
    found = check(str(tmp_path / "my_notes"), seconds=120)
    assert found.faults == []
    assert (found.distribution, found.brings) == ("armarium-my-notes", ["armarium.plugins:my_notes"])


@pytest.mark.parametrize("name", ["", "My notes", "1st", "../escape", "x" * 41])
def test_a_family_with_a_name_that_is_none_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="cannot be the name of a plugin"):
        write_family(name, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_the_command_writes_a_family_and_never_over_what_is_there(tmp_path: Path) -> None:
    run = CliRunner().invoke
    result = run(build(), ["plugins", "--new", "my_notes", str(tmp_path / "here")])
    assert result.exit_code == 0
    assert (tmp_path / "here" / "src" / "armarium_my_notes" / "plugin.py").is_file()
    assert run(build(), ["plugins", "--new", "my_notes", str(tmp_path / "here")]).exit_code == 1


def test_the_check_reports_every_fault_and_the_command_exits_with_1(tmp_path: Path) -> None:
    wrong = {one.name: one for one in MILD}
    write_all([wrong["wrong-lane"]], tmp_path / "site")
    ran = CliRunner().invoke(build(), ["--json", "plugins", "--check", str(tmp_path / "site")])
    assert ran.exit_code == 1
    said = json.loads(ran.stdout)
    assert (said["ok"], [fault["name"] for fault in said["faults"]]) == (False, ["wrong_lane"])
    assert "lanes are local-model" in said["faults"][0]["why"]


def test_the_check_refuses_what_is_no_plugin(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no installed distribution of that name"):
        check("no-such-thing")
    with pytest.raises(BadRequest, match=r"has no pyproject\.toml"):
        check(str(tmp_path))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n', encoding="utf-8")
    with pytest.raises(NotFound, match="no entry point of ours"):
        check(str(tmp_path))


def test_ours_are_offered_first() -> None:
    ranks = [offer.first_party for offer in find_offers()]
    assert ranks == sorted(ranks, reverse=True)
    assert any(ranks)
