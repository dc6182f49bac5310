"""Commands about the engine, its projects, background work, runtimes and tokens; what all commands have in common."""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine, Pictures

COMMANDS = [
    ("projects",), ("release",), ("snapshot",), ("doctor",), ("ls",), ("text",), ("history",),
    ("history", "--verify"), ("jobs",), ("plugins",), ("runtime", "list"), ("action", "list"), ("token", "list"),
    ("token", "pair"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_json_is_one_value_wherever_it_is_asked_for(desk: Machine, words: tuple[str, ...]) -> None:
    desk.done("create", "Letters")
    assert isinstance(desk.done("--json", *words).json, dict)
    assert isinstance(desk.done(*words, "--json").json, dict)


def test_json_of_one_command_is_not_the_next_ones(desk: Machine) -> None:
    desk.done("projects", "--json")
    assert "Projects" in desk.done("projects").out


def test_a_refusal_under_json_is_the_body_of_the_api(desk: Machine) -> None:
    desk.done("create", "Letters")
    assert json.loads(desk.refused("correct", "nosuch", "x", "--json"))["detail"].startswith(
        "There is no segment"
    )


def test_json_may_be_asked_for_by_the_environment(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMARIUM_JSON", "1")
    assert "libraries" in desk.done("projects").json


def test_wrong_usage_ends_with_2(desk: Machine) -> None:
    for words in ((), ("nonsense",), ("ls", "--nonsense"), ("import",), ("token",), ("jobs", "mode", "lazy")):
        desk.misused(*words)
    desk.misused("token", "create", "bot", "--role", "owner")
    desk.misused("token", "pair", "--role", "king")
    desk.misused("serve", "--port", "99999")


def test_wrong_usage_is_one_sentence(desk: Machine) -> None:
    for words, said in {
        "ls --nonsense": "No such option: --nonsense. See armarium ls --help.",
        "create": "Missing argument 'path'. See armarium create --help.",
        "jobs mode lazy": "'lazy' is not one of 'automatic', 'started', 'paused'. See armarium jobs mode --help.",
    }.items():
        ran = desk.run(*words.split())
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.rstrip().endswith(said)
        body = json.loads(desk.run(*words.split(), "--json").err)
        assert body == {"detail": ran.err.strip(), "code": "wrong_usage"}


def test_version_and_help_need_no_engine(machine: Machine) -> None:
    from armarium import __version__

    assert machine.done("--version").out == f"{__version__}\n"
    assert "--json" in machine.done("import", "--help").out
    assert "snapshot" in machine.done("--help").out
    assert not machine.state.exists()


def test_create_adds_the_suffix_and_never_makes_a_project_twice(desk: Machine) -> None:
    assert (
        desk.done("create", "Letters", "--name", "Of the house").out
        == f"Made {desk.home / 'Letters.library'}.\n"
    )
    assert "there already" in desk.refused("create", "Letters")
    assert "Of the house" in desk.done("projects").out


def test_a_project_is_named_by_its_place_by_a_path_or_by_a_name(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.done("create", "One", "--name", "The first of two")
    desk.done("create", "Two")
    assert desk.refused("ls").startswith("Which project? Name one with --library (a path or a name): ")
    assert desk.refused("ls").endswith(" Or make one: armarium create NAME.")
    for named in ("One", "One.library", str(desk.home / "One.library"), "The first of two"):
        desk.done("--library", named, "ls")
        desk.done("ls", "-l", named)
    monkeypatch.setenv("ARMARIUM_LIBRARY", "Two")
    desk.done("ls")
    monkeypatch.delenv("ARMARIUM_LIBRARY")
    monkeypatch.chdir(desk.home / "One.library" / "objects")
    desk.done("ls")


def test_a_project_that_is_not_there_is_refused(desk: Machine) -> None:
    assert desk.refused("ls", "-l", "Nobody").startswith("No project is called Nobody.")
    assert desk.refused("ls", "-l", "./Nobody.library").startswith("There is no project at Nobody.library")
    (desk.home / "plain").mkdir()
    assert "ends in .library" in desk.refused("ls", "-l", "./plain")
    (desk.home / "Empty.library").mkdir()
    assert desk.refused("ls")


def test_two_projects_of_one_name_are_told_apart_by_path(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        (desk.home / folder).mkdir()
        desk.done("create", f"{folder}/Twin", "--name", "Twins of this test")
    said = desk.refused("ls", "-l", "Twins of this test")
    assert str(desk.home / "a" / "Twin.library") in said
    assert str(desk.home / "b" / "Twin.library") in said


def test_a_project_whose_folder_went_away_is_refused(desk: Machine) -> None:
    desk.done("create", "Letters", "--name", "Gone soon")
    desk.done("release")
    (desk.home / "Letters.library").rename(desk.home / "Elsewhere")
    assert desk.refused("ls", "-l", "Gone soon").endswith(".")


def test_a_damaged_project_is_refused_in_words_and_the_doctor_says_so(desk: Machine) -> None:
    desk.done("create", "Letters")
    desk.done("release")
    (desk.home / "Letters.library" / "library.sqlite").write_bytes(b"no database" * 1000)
    assert desk.refused("ls")
    ran = desk.run("doctor", "Letters.library")
    assert ran.code == 1
    assert "NOT healthy" in ran.out
    ran = desk.run("doctor", "Letters.library", "--json")
    assert (ran.code, ran.json["healthy"]) == (1, False)


def test_the_doctor_finds_a_sound_project_healthy_and_a_lost_file_not(
    desk: Machine, pictures: Pictures
) -> None:
    pictures(["1.png"])
    desk.done("create", "Letters")
    desk.done("import", "pages")
    assert "is healthy (1 file, 0 snapshots, " in desk.done("doctor").out
    next(p for p in (desk.home / "Letters.library" / "objects").rglob("*") if p.is_file()).unlink()
    assert "NOT healthy" in desk.run("doctor", "Letters.library").out
    assert "There is nothing at" in desk.refused("doctor", "nowhere")


def test_snapshot_and_release(desk: Machine) -> None:
    desk.done("create", "Letters")
    assert desk.done("snapshot", "--reason", "before I try").out.startswith("Snapshot of 0 files in ")
    (desk.home / "disk").mkdir()
    desk.done("settings", "--copy-to", "disk")
    copied = desk.done("snapshot").out.splitlines()[1]
    assert copied.startswith(f"Copied to {desk.home / 'disk'}/Letters-")
    assert Path(copied.removeprefix("Copied to ").removesuffix(".")).is_dir()
    shutil.rmtree(desk.home / "disk")
    failed = desk.run("snapshot")
    said = failed.err.splitlines()[-1]
    assert said.startswith(f"The snapshot is in {desk.home / 'Letters.library'}/snapshots/")
    assert (failed.code, "but was not copied. Snapshots cannot be copied to" in said) == (1, True)
    assert desk.done("release").out == f"released: {desk.home / 'Letters.library'}\n"
    assert desk.done("release").out.startswith("not open: ")


def test_nobody_is_kept_waiting_for_a_snapshot_that_is_not_due(desk: Machine) -> None:
    desk.done("create", "Letters")
    desk.done("settings", "--snapshot-every", "1d")
    desk.done("snapshot")
    desk.done("settings", "--name", "Letters again")
    for _ in range(200):
        if "not due yet" in desk.done("jobs").out:
            break
        time.sleep(0.05)
    assert "not due yet" in desk.done("jobs").out
    assert desk.done("jobs", "--watch").out.endswith("Nothing is left to wait for.\n")


def test_before_the_first_project_it_says_how_to_make_one(machine: Machine) -> None:
    assert machine.done("projects").out == "There is no project yet; make one: armarium create NAME.\n"
    assert machine.refused("ls") == "There is no project yet; make one: armarium create NAME."


def test_settings_are_shown_and_changed(desk: Machine) -> None:
    desk.done("create", "Letters")
    shown = desk.done("settings").out
    assert "snapshot every: off\n" in shown
    assert "models of this machine alone: no\n" in shown
    told = desk.done("settings", "--snapshot-every", "12h", "--keep", "3", "--name", "Letters of 1750").out
    assert "name: Letters of 1750\n" in told
    assert "snapshot every: 12h\n" in told
    assert "snapshots kept: 3\n" in told
    (desk.home / "disk").mkdir()
    set_ = desk.done("settings", "--copy-to", "disk", "--json").json
    assert set_["snapshot_offsite_path"] == str(desk.home / "disk")
    cleared = desk.done("settings", "--copy-to", "off", "--snapshot-every", "off", "--json").json
    assert (cleared["snapshot_offsite_path"], cleared["snapshot_interval_seconds"]) == (None, 0)
    assert "is no length of time" in desk.refused("settings", "--snapshot-every", "often")
    assert "no such folder" in desk.refused("settings", "--copy-to", "nowhere")
    assert "Letters of 1750" in desk.done("projects").out


def test_release_needs_a_running_engine(machine: Machine) -> None:
    machine.done("create", "Letters")
    assert machine.refused("release") == "No engine is running that could hold the project."


def test_jobs_are_listed_logged_held_and_given_up(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.done("create", "Letters")
    desk.done("jobs", "pause")
    assert desk.done("jobs", "--json").json["mode"] == "paused"
    folder = str(desk.home / "pages")
    started = desk.done("action", "run", "document.import", "-p", json.dumps({"folder": folder})).json
    job = started["result"]["job_id"]
    assert job in desk.done("jobs").out
    assert desk.done("jobs", "pause", job).out.startswith(f"{job}: paused")
    assert desk.done("jobs", "resume", job, "--json").json
    assert desk.done("jobs", "cancel", job).out == f"{job}: cancelled.\n"
    assert desk.done("jobs", "resume").out.startswith("Background work: ")
    desk.done("jobs", "mode", "automatic")
    desk.done("jobs", "log", job)
    desk.done("jobs", "clear-failed")
    assert desk.done("jobs", "--watch").out.endswith("Nothing is left to wait for.\n")


@pytest.mark.parametrize("command", ["log", "pause", "resume", "cancel", "retry"])
def test_a_job_that_is_not_there_is_refused(desk: Machine, command: str) -> None:
    desk.done("create", "Letters")
    assert "nosuch" in desk.refused("jobs", command, "nosuch")


def test_plugins_are_listed_with_drivers_and_those_refused_with_why(desk: Machine) -> None:
    said = desk.done("plugins").out
    assert "greeter" in said
    assert "pretend" in said
    assert "refused: sulk (of strangers): It does not import: RuntimeError: not today" in said


def test_commands_of_plugins_work_as_the_cores_do(desk: Machine) -> None:
    assert desk.done("greeter", "hello", "Ana").out == "Hello, Ana.\n"
    assert desk.done("greeter", "hello", "Ana", "--json").json == {"hello": "Ana"}
    said = desk.refused("greeter", "stumble")
    assert said.startswith("Armarium met something it did not expect (KeyError: 'a fault').")


def test_commands_of_plugins_stand_beside_the_cores_and_under_the_plugins_name(desk: Machine) -> None:
    assert desk.done("usher-in", "Ana").out == "After you, Ana.\n"
    assert desk.done("usher-in", "Ana", "--json").json == {"in": "Ana"}
    assert desk.done("usher", "usher-in", "Ana").out == "After you, Ana.\n"
    shown = desk.done("--help").out
    assert "usher-in" in shown
    assert "Show someone in." in shown


def test_no_plugin_takes_a_command_from_the_core_or_from_another_plugin(desk: Machine) -> None:
    desk.done("create", "Letters")
    assert "Say aah" not in desk.done("doctor").out
    assert desk.done("usher", "doctor").out == "Say aah.\n"
    said = desk.run("bow", "--deep")
    assert said.code == 1
    assert "Several plugins bring a command bow: say armarium herald bow or armarium usher bow." in said.err
    assert desk.done("herald", "bow", "--deep").out == "Trumpets.\n"


def test_commands_that_cannot_be_built_are_left_out_with_a_word(desk: Machine) -> None:
    said = "The commands of faint (of strangers) are left out: RuntimeError: smelling salts\n"
    assert desk.done("usher-in", "Ana").err == ""
    assert desk.done("--help").err == said
    assert desk.misused("faint").startswith(said)


def test_tokens_are_made_listed_and_revoked(desk: Machine) -> None:
    shown = desk.done("token", "create", "bot", "--role", "viewer").out.strip()
    assert len(shown) > 20
    rows = desk.done("token", "list", "--json").json["items"]
    identity = next(row["id"] for row in rows if row["name"] == "bot")
    assert shown not in desk.done("token", "list").out
    assert desk.done("token", "revoke", identity).out == f"Revoked {identity}.\n"
    assert "revoked" in desk.done("token", "list").out
    assert "no token nosuch" in desk.refused("token", "revoke", "nosuch")
    assert desk.done("token", "pair").out.startswith("Code: ")


def test_folders_are_granted_shown_and_taken_away(desk: Machine, tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    made = desk.done("token", "create", "bot", "--folder", str(tmp_path / "scans"), "--json").json
    assert made["folders"] == [str((tmp_path / "scans").resolve())]
    assert desk.done("token", "folders", made["id"]).out == f"{made['folders'][0]}\n"
    assert desk.done("token", "folders", made["id"], "--none").out == "no folder\n"
    assert desk.done("token", "folders", made["id"], str(tmp_path), "--json").json["folders"] == [
        str(tmp_path.resolve())
    ]
    assert "no folder" in desk.refused("token", "folders", made["id"], str(tmp_path / "nothing"))
    assert "no token" in desk.refused("token", "folders", "0" * 32)


def test_a_token_or_code_made_with_a_project_named_reaches_that_project_alone(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.done("create", "Letters")
    desk.done("create", "Deeds")
    only = [str(desk.home / "Deeds.library")]
    for words in (("token", "create", "bot"), ("token", "pair")):
        assert desk.done(*words, "--library", "Deeds", "--json").json["libraries"] == only
        assert desk.done("-l", "Deeds", *words, "--json").json["libraries"] == only
        monkeypatch.setenv("ARMARIUM_LIBRARY", "Deeds")
        assert desk.done(*words, "--json").json["libraries"] == "all"
        monkeypatch.delenv("ARMARIUM_LIBRARY")
    assert "no project at" in desk.refused("token", "pair", "--library", "./Nowhere")


def test_an_action_that_needs_no_project_runs_without_one(machine: Machine) -> None:
    assert machine.done("action", "run", "job.clear_failed").json["result"] == {"cleared": 0}
    assert "no action 'no.such'" in machine.refused("action", "run", "no.such")
    assert "There is no project yet" in machine.refused("action", "run", "document.create")


def test_a_token_that_is_not_known_is_refused(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_OWNER_TOKEN", "not-the-token-of-this-engine")
    assert "not known here" in desk.refused("projects")


def test_a_runtime_is_installed_listed_and_removed(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(desk.home / "tinyengine-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tinyengine.py", "ANSWER = 1\n")
        info = "tinyengine-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinyengine\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(desk.home))
    desk.done("create", "Letters")
    assert desk.done("runtime", "remove", "tiny").out == "The runtime tiny was not installed.\n"
    assert desk.done("runtime", "install", "tiny").out == "The runtime tiny is installed.\n"
    assert desk.done("runtime", "install", "tiny").out == "The runtime tiny is installed already.\n"
    listed = {state["name"]: state for state in desk.done("runtime", "list", "--json").json["items"]}
    assert listed["tiny"]["installed"] is True
    assert "MB freed" in desk.done("runtime", "remove", "tiny").out
    for command in ("install", "remove"):
        assert desk.refused("runtime", command, "nosuch").startswith(
            "No driver asks for a runtime called nosuch"
        )


def test_a_second_engine_in_one_state_folder_is_refused(desk: Machine) -> None:
    assert desk.refused("serve").startswith("An engine serves this state folder already")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--uds", "u" * 120), "set SERVICE_UDS to a shorter one"),
        (("--uds", "taken"), "is there and is no socket"),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_refused(
    machine: Machine, short_home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(short_home)
    Path("taken").touch()
    assert why in machine.refused("serve", *words)


def test_a_setting_that_cannot_be_used_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_PORT", "many")
    for words in (("ls",), ("serve",), ("doctor", "."), ("runtime", "list")):
        assert machine.refused(*words).startswith("SERVICE_PORT is 'many' and cannot be used")


def test_a_state_folder_that_cannot_be_used_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.home / "file").touch()
    monkeypatch.setenv("SERVICE_STATE_DIR", str(machine.home / "file"))
    for words in (("ls",), ("serve",), ("plugins",)):
        assert "state folder 'file' cannot be made private" in machine.refused(*words)


def test_a_state_folder_with_a_damaged_database_is_refused(machine: Machine) -> None:
    machine.done("projects")
    damaged = [path for path in machine.state.iterdir() if path.suffix in (".sqlite", ".db")]
    assert damaged
    for path in damaged:
        path.write_bytes(b"no database" * 1000)
    assert machine.refused("projects").endswith(".")


def test_an_engine_that_went_away_leaves_a_card_that_is_passed_over(machine: Machine) -> None:
    machine.done("create", "Letters")
    card = {
        "transport": "uds", "uds": str(machine.home / "gone.sock"), "host": None, "port": None,
        "base_url": "http://localhost", "pid": 1, "version": "0", "started_at": "",
    }  # fmt: skip
    (machine.state / "engine.json").write_text(json.dumps(card))
    machine.done("ls")
    (machine.state / "engine.json").write_text("{half")
    machine.done("ls")


def test_the_whole_of_a_users_day_without_a_running_engine(machine: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    machine.done("create", "Letters")
    machine.done("import", "pages")
    machine.done("lines", "--reader", "pretend")
    machine.done("read", "--reader", "pretend")
    assert "linea 1" in machine.done("text").out
    machine.done("export", "--out", "out")
    machine.done("undo")
    machine.done("redo")
    assert "is healthy" in machine.done("doctor").out
    assert Path("out/1.xml").is_file()
