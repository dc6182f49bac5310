"""The checker that needs no model: each signal separately, on pages with ink; what it writes and what it
leaves alone.
"""

from __future__ import annotations

from checking_project import BUILTIN, MACHINE, CheckingProject

from armarium_checking.characters import Likelihood

PROSE = (
    "the quick brown fox jumps over the lazy dog and runs away",
    "a letter from the bishop to the governor of the province",
    "in the year of our lord sixteen hundred and twelve they met",
    "the said parties have agreed to the sale of the said house",
    "witnesses to this deed were the neighbours of the seller",
)


def read_verdicts(project: CheckingProject, run_id: str) -> dict[str, str]:
    """Return by the text of a reading the verdict on it and its signal."""
    texts = dict(project.rows("SELECT id, content FROM content_representation"))
    return {
        texts[verdict["target_id"]]: f"{verdict['verdict']} {verdict['reasons'].partition(':')[0]}"
        for verdict in project.verdicts(run_id=run_id)
    }


def test_readers_who_agree_confirm_and_two_against_one_correct(project: CheckingProject) -> None:
    page, pass_id, lines = project.page([0.6, 0.6, 0.6])
    project.read(page, pass_id, lines, ["Querido señor", "yours truly ever", "Given at Lima"], "one")
    # The same letters, composed otherwise.
    project.read(page, pass_id, lines, ["Querido sen\u0303or", "yours faithfully", "qqqq ww"], "two")
    project.read(page, pass_id, lines, ["", "yours faithfully", ""], "three")
    project.read(page, pass_id, lines, ["Querido señor", "yours truly ever", "Given at Lima"], "one")
    run = project.check(page)
    assert run["state"] == "done"
    assert read_verdicts(project, run["job_id"]) == {
        "Querido señor": "confirm agreement",
        "yours truly ever": "correct agreement",
        "Given at Lima": "reject agreement",
    }
    assert run["counts"] == {"confirm": 1, "correct": 1, "reject": 1, "unanswered": 0}
    assert run["total"] == 3
    (corrected,) = [
        verdict for verdict in project.verdicts(run_id=run["job_id"]) if verdict["verdict"] == "correct"
    ]
    assert (corrected["correction"], corrected["trust"], corrected["episode_id"]) == (
        "yours faithfully",
        "model",
        None,
    )
    assert corrected["checker"] == BUILTIN
    ((text, corrects, kind),) = project.rows(
        "SELECT content, corrects_representation_id, provenance_kind FROM content_representation WHERE id = ?",
        corrected["replacement_id"],
    )
    assert (text, corrects, kind) == ("yours faithfully", corrected["target_id"], "workflow")


def test_a_correction_never_displaces_a_persons_reading(project: CheckingProject) -> None:
    page, pass_id, lines = project.page([0.6])
    for reader in ("one", "two"):
        project.read(page, pass_id, lines, ["yours faithfully"], reader)
    own = project.do("representation.create", {"segment_id": lines[0], "text": "yours truly ever"})["id"]
    run = project.check(page)
    assert run["counts"]["correct"] == 1
    counting = project.client.get(f"/api/segments/{lines[0]}/readings").json()["counting"]["transcription"]
    assert counting["representation_id"] == own


def test_a_reading_of_another_pass_in_the_same_place_is_another_readers(project: CheckingProject) -> None:
    page, old, lines = project.page([0.6, 0.6])
    project.read(page, old, lines, ["Dear Sir and friend", "yours truly"], "one")
    new = project.new_pass(page)
    second_lines = project.lines(page, new, 2)
    project.read(page, new, second_lines, ["Dear Sir and friend", "yours truly"], "two")
    run = project.check(page)
    assert run["counts"]["confirm"] == 2
    checked = {verdict["segment_id"] for verdict in project.verdicts(run_id=run["job_id"])}
    assert checked == set(second_lines)
    of_the_first = project.check(page, pass_model="one")
    assert {verdict["segment_id"] for verdict in project.verdicts(run_id=of_the_first["job_id"])} == set(
        lines
    )


def test_a_reading_that_does_not_fit_the_ink_or_length_is_rejected(project: CheckingProject) -> None:
    page, pass_id, lines = project.page([0.6, 0.6, 0.6, 0.6, 0.6, 0.0, 0.1])
    texts = [*PROSE, "words where there are none", PROSE[0]]
    project.read(page, pass_id, lines, [*texts[:-1], PROSE[0] + " and"], "one")
    run = project.check(page)
    assert read_verdicts(project, run["job_id"]) == {
        "words where there are none": "reject ink",
        PROSE[0] + " and": "reject length",
    }
    assert run["counts"]["unanswered"] == 5


def test_a_reading_unlike_the_corrected_lines_is_rejected(project: CheckingProject) -> None:
    lines = [f"{one} {number}" for number in range(12) for one in PROSE]
    likelihood = Likelihood(lines)
    assert not any(likelihood.is_unlikely(line) for line in PROSE)
    assert not likelihood.is_unlikely("the bishop and the governor met in the house of the seller")
    assert likelihood.is_unlikely("xq#%vz kk@@ jjxqv ¤¤¤ wwqx")
    assert not Likelihood(lines[:20]).is_unlikely("xq#%vz kk@@ jjxqv ¤¤¤ wwqx")
    page, pass_id, ids = project.page([0.5])
    project.read(page, pass_id, ids, ["xq#%vz kk@@ jjxqv ¤¤¤ wwqx"], "one")
    other, other_pass, _ = project.page([0.6])
    for number in range(10):
        new_lines = project.lines(other, other_pass, 6)
        corrections = [
            {"segment_id": new_line, "text": text}
            for new_line, text in zip(new_lines, lines[number * 6 :], strict=False)
        ]
        project.do("representation.create_many", {"corrections": corrections})
    run = project.check(page)
    assert read_verdicts(project, run["job_id"]) == {"xq#%vz kk@@ jjxqv ¤¤¤ wwqx": "reject characters"}


def test_without_any_signal_there_is_no_verdict(project: CheckingProject) -> None:
    page, pass_id, lines = project.page([0.6])
    project.read(page, pass_id, lines, ["Dear Sir and friend"], "one")
    assert project.check(page)["counts"] == {"confirm": 0, "correct": 0, "reject": 0, "unanswered": 1}
    assert project.verdicts() == []


def test_a_whole_run_is_undone_as_one_set(project: CheckingProject) -> None:
    page, pass_id, lines = project.page([0.6])
    project.read(page, pass_id, lines, ["yours faithfully"], "two")
    project.read(page, pass_id, lines, ["yours faithfully"], "three")
    project.read(page, pass_id, lines, ["yours truly ever"], "one")
    before = project.rows("SELECT id FROM content_representation ORDER BY id")
    run = project.check(page)
    assert run["counts"]["correct"] == 1
    steps = [
        row[0] for row in project.rows("SELECT id FROM audit WHERE set_id = ? ORDER BY seq", run["job_id"])
    ]
    assert project.client.post("/api/actions/audit/undo", json={"audit_ids": steps}).status_code == 200
    assert (project.verdicts(), project.rows("SELECT id FROM content_representation ORDER BY id")) == (
        [],
        before,
    )


def test_a_page_that_its_starter_may_not_see_is_refused_and_said_so(project: CheckingProject) -> None:
    pages = []
    for _ in range(2):
        page, pass_id, lines = project.page([0.6])
        for reader in ("one", "two"):
            project.read(page, pass_id, lines, ["Dear Sir and friend"], reader)
        pages.append(page)
    hidden, shown = pages
    runs = [
        project.do("check.run", {"layer": "readings", "scope_ids": scope, "checker": BUILTIN}, MACHINE)[
            "job_id"
        ]
        for scope in ([hidden], pages)
    ]
    project.do("rights.set", {"target_kind": "document", "target_id": hidden, "restricted": True})
    project.engine.jobs.run_until_idle(project.library)
    alone, both = (project.client.get(f"/api/check/runs/{run}").json() for run in runs)
    assert (alone["state"], alone["counts"]["confirm"]) == ("failed", 0)
    assert "No page could be checked" in alone["reason"]
    assert (both["state"], both["total"], both["counts"]["confirm"]) == ("done", 1, 1)
    assert {verdict["document_id"] for verdict in project.verdicts()} == {shown}
    for job_id in runs:
        log = project.client.get(f"/api/activity/jobs/{job_id}/log")
        assert hidden in log.text, log.text
        assert "restricted" in log.text.casefold(), log.text
