"""Branches from the command line, as two people use them."""

from __future__ import annotations

from pathlib import Path

from armarium_testing.command_line import Machine


def test_a_branch_is_made_worked_on_looked_through_and_merged(wills: Machine) -> None:
    assert "There is no branch yet" in wills.succeed("branch", "list").out
    answer = wills.succeed("branch", "create", "Names", "--for", "Ana", "--to", "names.zip", "--json").json
    assert Path("names.zip").stat().st_size == answer["packed"]["bytes"]
    place = answer["library_path"]
    assert "Names" in wills.succeed("branch", "list").out
    wills.succeed("--library", place, "folder", "Found letters")
    output = wills.succeed("branch", "changes", "Names").out
    assert "1 page, 0 lines changed: 1 clean" in output
    assert "Found letters: tree, clean" in output
    assert wills.succeed("branch", "merge", "Names").out.startswith("Merged 1 group, 1 row")
    assert "Found letters" in wills.succeed("ls").out
    assert "nothing to merge" in wills.expect_refusal("branch", "merge", "Names")
    assert "no branch" in wills.expect_refusal("branch", "merge", "Nobody's")
    wills.succeed("--library", place, "folder", "Doubtful")
    (group,) = wills.succeed("branch", "changes", "Names", "--json").json["items"]
    assert "--group" in wills.expect_refusal("branch", "reject", "Names", "It is a bill")
    wills.succeed("branch", "reject", "Names", "It is a bill", "-g", group["id"])
    output = wills.succeed("--library", place, "branch", "changes", "Names").out
    assert "0 pages" in output
    assert f"{group['id']}: turned down: It is a bill" in output
    assert "back.zip" in wills.succeed("--library", place, "branch", "pack", "back.zip").out
    wills.succeed("branch", "delete", "Names")
    assert not Path(place).exists()
    wills.succeed("branch", "take", "back.zip")
    assert Path(place).parent.is_dir()


def test_the_later_work_of_the_project_is_brought_into_a_branch(wills: Machine) -> None:
    place = wills.succeed("branch", "create", "Later", "--json").json["library_path"]
    wills.succeed("folder", "Meanwhile")
    assert "Meanwhile" in wills.succeed("branch", "changes", "Later", "--incoming").out
    assert wills.succeed("--library", place, "branch", "update").out.startswith("Merged 1 group")
    assert "Meanwhile" in wills.succeed("--library", place, "ls").out


def test_a_conflict_is_shown_with_what_stands_on_both_sides(read_pages: Machine) -> None:
    place = read_pages.succeed("branch", "create", "Nora", "--json").json["library_path"]
    line = read_pages.succeed("text", "--ids", "--json").json["items"][0]["spans"][0]
    for where, text in ((("--library", place), "There"), ((), "Here")):
        read_pages.succeed(*where, "correct", line["segment_id"], text)
    answer = read_pages.succeed("branch", "changes", "Nora").out
    assert "1 in conflict" in answer
    assert "[+There+]" in answer
    assert "    here: Here (owner)" in answer
    assert "groups in conflict: 1" in read_pages.expect_refusal("branch", "merge", "Nora")
