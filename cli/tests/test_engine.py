"""Commands for the engine, its projects, background work, runtimes and tokens; and what all commands have in common."""

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
    desk.succeed("create", "Letters")
    assert isinstance(desk.succeed("--json", *words).json, dict)
    assert isinstance(desk.succeed(*words, "--json").json, dict)


def test_json_of_one_command_is_not_the_next_ones(desk: Machine) -> None:
    desk.succeed("projects", "--json")
    assert "Projects" in desk.succeed("projects").out


def test_a_refusal_under_json_is_the_body_of_the_api(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    assert json.loads(desk.expect_refusal("correct", "nosuch", "x", "--json"))["detail"].startswith(
        "There is no segment"
    )


def test_json_may_be_asked_for_by_the_environment(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMARIUM_JSON", "1")
    assert "libraries" in desk.succeed("projects").json


def test_wrong_usage_ends_with_2(desk: Machine) -> None:
    for words in ((), ("nonsense",), ("ls", "--nonsense"), ("import",), ("token",), ("jobs", "mode", "lazy")):
        desk.expect_misuse(*words)
    desk.expect_misuse("token", "create", "bot", "--role", "owner")
    desk.expect_misuse("token", "pair", "--role", "king")
    desk.expect_misuse("serve", "--port", "99999")


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

    assert machine.succeed("--version").out == f"{__version__}\n"
    assert "--json" in machine.succeed("import", "--help").out
    assert "snapshot" in machine.succeed("--help").out
    assert not machine.state.exists()


def test_create_adds_the_suffix_and_never_makes_a_project_twice(desk: Machine) -> None:
    assert (
        desk.succeed("create", "Letters", "--name", "Of the house").out
        == f"Made {desk.home / 'Letters.library'}.\n"
    )
    assert "already exists" in desk.expect_refusal("create", "Letters")
    assert "Of the house" in desk.succeed("projects").out


def test_a_project_is_named_by_its_place_by_a_path_or_by_a_name(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.succeed("create", "One", "--name", "The first of two")
    desk.succeed("create", "Two")
    assert desk.expect_refusal("ls").startswith("Which project? Name one with --library (a path or a name): ")
    assert desk.expect_refusal("ls").endswith(" Or make one: armarium create NAME.")
    for named in ("One", "One.library", str(desk.home / "One.library"), "The first of two"):
        desk.succeed("--library", named, "ls")
        desk.succeed("ls", "-l", named)
    monkeypatch.setenv("ARMARIUM_LIBRARY", "Two")
    desk.succeed("ls")
    monkeypatch.delenv("ARMARIUM_LIBRARY")
    monkeypatch.chdir(desk.home / "One.library" / "objects")
    desk.succeed("ls")


def test_a_project_that_is_not_there_is_refused(desk: Machine) -> None:
    assert desk.expect_refusal("ls", "-l", "Nobody").startswith("No project is called Nobody.")
    assert desk.expect_refusal("ls", "-l", "./Nobody.library").startswith(
        "There is no project at Nobody.library"
    )
    (desk.home / "plain").mkdir()
    assert "ends in .library" in desk.expect_refusal("ls", "-l", "./plain")
    (desk.home / "Empty.library").mkdir()
    assert desk.expect_refusal("ls")


def test_two_projects_of_one_name_are_distinguished_by_path(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        (desk.home / folder).mkdir()
        desk.succeed("create", f"{folder}/Twin", "--name", "Twins of this test")
    refusal = desk.expect_refusal("ls", "-l", "Twins of this test")
    assert str(desk.home / "a" / "Twin.library") in refusal
    assert str(desk.home / "b" / "Twin.library") in refusal


def test_a_project_whose_folder_went_away_is_refused(desk: Machine) -> None:
    desk.succeed("create", "Letters", "--name", "Gone soon")
    desk.succeed("release")
    (desk.home / "Letters.library").rename(desk.home / "Elsewhere")
    assert desk.expect_refusal("ls", "-l", "Gone soon").endswith(".")


def test_a_damaged_project_is_refused_with_a_sentence_and_the_doctor_says_so(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    desk.succeed("release")
    (desk.home / "Letters.library" / "library.sqlite").write_bytes(b"no database" * 1000)
    assert desk.expect_refusal("ls")
    ran = desk.run("doctor", "Letters.library")
    assert ran.code == 1
    assert "NOT healthy" in ran.out
    ran = desk.run("doctor", "Letters.library", "--json")
    assert (ran.code, ran.json["healthy"]) == (1, False)


def test_the_doctor_reports_a_lost_file_and_nothing_in_an_intact_project(
    desk: Machine, pictures: Pictures
) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    assert "is healthy (1 file, 0 snapshots, " in desk.succeed("doctor").out
    next(path for path in (desk.home / "Letters.library" / "objects").rglob("*") if path.is_file()).unlink()
    assert "NOT healthy" in desk.run("doctor", "Letters.library").out
    assert "There is nothing at" in desk.expect_refusal("doctor", "nowhere")


def test_snapshot_and_release(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    assert desk.succeed("snapshot", "--reason", "before I try").out.startswith("Snapshot of 0 files in ")
    (desk.home / "disk").mkdir()
    desk.succeed("settings", "--copy-to", "disk")
    copied = desk.succeed("snapshot").out.splitlines()[1]
    assert copied.startswith(f"Copied to {desk.home / 'disk'}/Letters-")
    assert Path(copied.removeprefix("Copied to ").removesuffix(".")).is_dir()
    shutil.rmtree(desk.home / "disk")
    failed = desk.run("snapshot")
    line = failed.err.splitlines()[-1]
    assert line.startswith(f"The snapshot is in {desk.home / 'Letters.library'}/snapshots/")
    assert (failed.code, "but was not copied. Snapshots cannot be copied to" in line) == (1, True)
    assert desk.succeed("release").out == f"released: {desk.home / 'Letters.library'}\n"
    assert desk.succeed("release").out.startswith("not open: ")


def test_no_command_waits_for_a_snapshot_that_is_not_due(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    desk.succeed("settings", "--snapshot-every", "1d")
    desk.succeed("snapshot")
    desk.succeed("settings", "--name", "Letters again")
    for _ in range(200):
        if "not due yet" in desk.succeed("jobs").out:
            break
        time.sleep(0.05)
    assert "not due yet" in desk.succeed("jobs").out
    assert desk.succeed("jobs", "--watch").out.endswith("No work is left to wait for.\n")


def test_before_the_first_project_it_says_how_to_make_one(machine: Machine) -> None:
    assert machine.succeed("projects").out == "There is no project yet; make one: armarium create NAME.\n"
    assert machine.expect_refusal("ls") == "There is no project yet; make one: armarium create NAME."


def test_settings_are_shown_and_changed(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    answer = desk.succeed("settings").out
    assert "snapshot every: off\n" in answer
    assert "models of this machine only: no\n" in answer
    output = desk.succeed(
        "settings", "--snapshot-every", "12h", "--keep", "3", "--name", "Letters of 1750"
    ).out
    assert "name: Letters of 1750\n" in output
    assert "snapshot every: 12h\n" in output
    assert "snapshots kept: 3\n" in output
    (desk.home / "disk").mkdir()
    set_ = desk.succeed("settings", "--copy-to", "disk", "--json").json
    assert set_["snapshot_offsite_path"] == str(desk.home / "disk")
    cleared = desk.succeed("settings", "--copy-to", "off", "--snapshot-every", "off", "--json").json
    assert (cleared["snapshot_offsite_path"], cleared["snapshot_interval_seconds"]) == (None, 0)
    assert "is not a duration" in desk.expect_refusal("settings", "--snapshot-every", "often")
    assert "no such folder" in desk.expect_refusal("settings", "--copy-to", "nowhere")
    assert "Letters of 1750" in desk.succeed("projects").out


def test_release_needs_a_running_engine(machine: Machine) -> None:
    machine.succeed("create", "Letters")
    assert machine.expect_refusal("release") == "No engine is running that could have the project open."


def test_jobs_are_listed_logged_held_and_given_up(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Letters")
    desk.succeed("jobs", "pause")
    assert desk.succeed("jobs", "--json").json["mode"] == "paused"
    folder = str(desk.home / "pages")
    started = desk.succeed("action", "run", "document.import", "-p", json.dumps({"folder": folder})).json
    job = started["result"]["job_id"]
    assert job in desk.succeed("jobs").out
    assert desk.succeed("jobs", "pause", job).out.startswith(f"{job}: paused")
    assert desk.succeed("jobs", "resume", job, "--json").json
    assert desk.succeed("jobs", "cancel", job).out == f"{job}: cancelled.\n"
    assert desk.succeed("jobs", "resume").out.startswith("Background work: ")
    desk.succeed("jobs", "mode", "automatic")
    desk.succeed("jobs", "log", job)
    desk.succeed("jobs", "clear-failed")
    assert desk.succeed("jobs", "--watch").out.endswith("No work is left to wait for.\n")


@pytest.mark.parametrize("command", ["log", "pause", "resume", "cancel", "retry"])
def test_a_job_that_is_not_there_is_refused(desk: Machine, command: str) -> None:
    desk.succeed("create", "Letters")
    assert "nosuch" in desk.expect_refusal("jobs", command, "nosuch")


def test_plugins_are_listed_with_drivers_and_those_refused_with_why(desk: Machine) -> None:
    answer = desk.succeed("plugins").out
    assert "greeter" in answer
    assert "pretend" in answer
    assert "refused: sulk (of strangers): It does not import: RuntimeError: not today" in answer


def test_commands_of_plugins_work_as_the_cores_do(desk: Machine) -> None:
    assert desk.succeed("greeter", "hello", "Ana").out == "Hello, Ana.\n"
    assert desk.succeed("greeter", "hello", "Ana", "--json").json == {"hello": "Ana"}
    refusal = desk.expect_refusal("greeter", "stumble")
    assert refusal.startswith("Armarium failed unexpectedly (KeyError: 'a fault').")


def test_commands_of_plugins_work_beside_the_cores_and_under_the_plugins_name(desk: Machine) -> None:
    assert desk.succeed("usher-in", "Ana").out == "After you, Ana.\n"
    assert desk.succeed("usher-in", "Ana", "--json").json == {"in": "Ana"}
    assert desk.succeed("usher", "usher-in", "Ana").out == "After you, Ana.\n"
    answer = desk.succeed("--help").out
    assert "usher-in" in answer
    assert "Show someone in." in answer


def test_no_plugin_takes_a_command_from_the_core_or_from_another_plugin(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    assert "Say aah" not in desk.succeed("doctor").out
    assert desk.succeed("usher", "doctor").out == "Say aah.\n"
    result = desk.run("bow", "--deep")
    assert result.code == 1
    assert (
        "Several plugins provide a command bow: say armarium herald bow or armarium usher bow." in result.err
    )
    assert desk.succeed("herald", "bow", "--deep").out == "Trumpets.\n"


def test_commands_that_cannot_be_built_are_left_out_with_a_word(desk: Machine) -> None:
    said = "The commands of faint (of strangers) are left out: RuntimeError: smelling salts\n"
    assert desk.succeed("usher-in", "Ana").err == ""
    assert desk.succeed("--help").err == said
    assert desk.expect_misuse("faint").startswith(said)


def test_tokens_are_made_listed_and_revoked(desk: Machine) -> None:
    answer = desk.succeed("token", "create", "bot", "--role", "viewer").out.strip()
    assert len(answer) > 20
    rows = desk.succeed("token", "list", "--json").json["items"]
    identity = next(row["id"] for row in rows if row["name"] == "bot")
    assert answer not in desk.succeed("token", "list").out
    assert desk.succeed("token", "revoke", identity).out == f"Revoked {identity}.\n"
    assert "revoked" in desk.succeed("token", "list").out
    assert "no token nosuch" in desk.expect_refusal("token", "revoke", "nosuch")
    assert desk.succeed("token", "pair").out.startswith("Code: ")


def test_folders_are_granted_shown_and_taken_away(desk: Machine, tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    answer = desk.succeed("token", "create", "bot", "--folder", str(tmp_path / "scans"), "--json").json
    assert answer["folders"] == [str((tmp_path / "scans").resolve())]
    assert desk.succeed("token", "folders", answer["id"]).out == f"{answer['folders'][0]}\n"
    assert desk.succeed("token", "folders", answer["id"], "--none").out == "no folder\n"
    assert desk.succeed("token", "folders", answer["id"], str(tmp_path), "--json").json["folders"] == [
        str(tmp_path.resolve())
    ]
    assert "no folder" in desk.expect_refusal("token", "folders", answer["id"], str(tmp_path / "nothing"))
    assert "no token" in desk.expect_refusal("token", "folders", "0" * 32)


def test_a_token_or_code_made_with_a_project_named_reaches_that_project_alone(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.succeed("create", "Letters")
    desk.succeed("create", "Deeds")
    only = [str(desk.home / "Deeds.library")]
    for words in (("token", "create", "bot"), ("token", "pair")):
        assert desk.succeed(*words, "--library", "Deeds", "--json").json["libraries"] == only
        assert desk.succeed("-l", "Deeds", *words, "--json").json["libraries"] == only
        monkeypatch.setenv("ARMARIUM_LIBRARY", "Deeds")
        assert desk.succeed(*words, "--json").json["libraries"] == "all"
        monkeypatch.delenv("ARMARIUM_LIBRARY")
    assert "no project at" in desk.expect_refusal("token", "pair", "--library", "./Nowhere")


def test_an_action_that_needs_no_project_runs_without_one(machine: Machine) -> None:
    assert machine.succeed("action", "run", "job.clear_failed").json["result"] == {"cleared": 0}
    assert "no action 'no.such'" in machine.expect_refusal("action", "run", "no.such")
    assert "There is no project yet" in machine.expect_refusal("action", "run", "document.create")


def test_a_token_that_is_not_known_is_refused(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_OWNER_TOKEN", "not-the-token-of-this-engine")
    assert "not known here" in desk.expect_refusal("projects")


def test_a_runtime_is_installed_listed_and_removed(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(desk.home / "tinyengine-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tinyengine.py", "ANSWER = 1\n")
        info = "tinyengine-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinyengine\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(desk.home))
    desk.succeed("create", "Letters")
    assert desk.succeed("runtime", "remove", "tiny").out == "The runtime tiny was not installed.\n"
    assert desk.succeed("runtime", "install", "tiny").out == "The runtime tiny is installed.\n"
    assert desk.succeed("runtime", "install", "tiny").out == "The runtime tiny is installed already.\n"
    listed = {state["name"]: state for state in desk.succeed("runtime", "list", "--json").json["items"]}
    assert listed["tiny"]["installed"] is True
    assert "MB freed" in desk.succeed("runtime", "remove", "tiny").out
    for command in ("install", "remove"):
        assert desk.expect_refusal("runtime", command, "nosuch").startswith(
            "No driver asks for a runtime called nosuch"
        )


def test_a_second_engine_in_one_state_folder_is_refused(desk: Machine) -> None:
    assert desk.expect_refusal("serve").startswith("An engine already serves this state folder")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--uds", "u" * 120), "Set SERVICE_UDS to a shorter one"),
        (("--uds", "taken"), "exists and is not a socket"),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_refused(
    machine: Machine, short_home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(short_home)
    Path("taken").touch()
    assert why in machine.expect_refusal("serve", *words)


def test_a_setting_that_cannot_be_used_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_PORT", "many")
    for words in (("ls",), ("serve",), ("doctor", "."), ("runtime", "list")):
        assert machine.expect_refusal(*words).startswith("SERVICE_PORT is 'many' and cannot be used")


def test_a_state_folder_that_cannot_be_used_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.home / "file").touch()
    monkeypatch.setenv("SERVICE_STATE_DIR", str(machine.home / "file"))
    for words in (("ls",), ("serve",), ("plugins",)):
        assert "state folder 'file' cannot be made private" in machine.expect_refusal(*words)


def test_a_state_folder_with_a_damaged_database_is_refused(machine: Machine) -> None:
    machine.succeed("projects")
    damaged = [path for path in machine.state.iterdir() if path.suffix in (".sqlite", ".db")]
    assert damaged
    for path in damaged:
        path.write_bytes(b"no database" * 1000)
    assert machine.expect_refusal("projects").endswith(".")


def test_an_engine_that_went_away_leaves_a_card_that_is_passed_over(machine: Machine) -> None:
    machine.succeed("create", "Letters")
    card = {
        "transport": "uds", "uds": str(machine.home / "gone.sock"), "host": None, "port": None,
        "base_url": "http://localhost", "pid": 1, "version": "0", "started_at": "",
    }  # fmt: skip
    (machine.state / "engine.json").write_text(json.dumps(card))
    machine.succeed("ls")
    (machine.state / "engine.json").write_text("{half")
    machine.succeed("ls")


def test_the_whole_of_a_users_day_without_a_running_engine(machine: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    machine.succeed("create", "Letters")
    machine.succeed("import", "pages")
    machine.succeed("lines", "--reader", "pretend")
    machine.succeed("read", "--reader", "pretend")
    assert "linea 1" in machine.succeed("text").out
    machine.succeed("export", "--out", "out")
    machine.succeed("undo")
    machine.succeed("redo")
    assert "is healthy" in machine.succeed("doctor").out
    assert Path("out/1.xml").is_file()


@pytest.mark.parametrize(("url", "given", "why"), [
    ("http://archive.example", {}, "ARMARIUM_URL is"), ("https://archive.example/armarium", {}, "ARMARIUM_URL is"),
    ("archive.example", {}, "ARMARIUM_URL is"), ("https://archive.example", {}, "ARMARIUM_TOKEN is not set"),
    ("https://archive.example", {"SERVICE_LOCAL_ONLY": "1"}, "SERVICE_LOCAL_ONLY keeps"),
])  # fmt: skip
def test_an_engine_elsewhere_is_asked_over_tls_with_a_token_only(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, url: str, given: dict[str, str], why: str
) -> None:
    for name, value in {"ARMARIUM_URL": url, **given}.items():
        monkeypatch.setenv(name, value)
    assert why in machine.expect_refusal("projects")
