"""Pictures cropped, split and enhanced from the command line, and the undo of it."""

from __future__ import annotations

from armarium_testing.command_line import Machine, ids


def size(machine: Machine, document: str) -> tuple[int, int]:
    picture = machine.succeed("show", document, "--json").json["attachments"]["renditions"][0]
    return picture["pixel_width"], picture["pixel_height"]


def test_crop_cuts_pixels_or_parts_and_is_taken_back(wills: Machine) -> None:
    known_ids = ids(wills)
    cut = wills.succeed("crop", known_ids["1.png"], "--box", "10,5,40,20", "--json").json
    assert size(wills, cut["children"][0]["id"]) == (40, 20)
    answer = wills.succeed("crop", known_ids["1.png"], known_ids["2.png"], "--box", "0%, 0%, 50%, 50%").out
    assert "2.png, crop 1" in answer
    assert "Take it back with: armarium undo " in answer
    assert wills.succeed("uncrop", known_ids["1.png"]).out.startswith("2 pictures went to the Trash.")


def test_split_accepts_every_form_of_its_options(wills: Machine) -> None:
    known_ids = ids(wills)
    second_item = wills.succeed("split", known_ids["1.png"], "--at", "40%", "--json").json["items"][0]
    assert [size(wills, child_id) for child_id in second_item["child_ids"]] == [(40, 80), (60, 80)]
    assert "2 pictures" in wills.succeed("unsplit", known_ids["1.png"]).out
    four = wills.succeed("split", known_ids["2.png"], "--columns", "2", "--rows", "2", "--json").json[
        "items"
    ][0]
    assert {size(wills, child_id) for child_id in four["child_ids"]} == {(50, 40)}
    answer = wills.succeed(
        "split", known_ids["3.png"], "--box", "0%,0%,50%,100%", "--box", "60%,0%,40%,50%"
    ).out
    assert "3.png, split 2" in answer


def test_a_folder_is_cut_as_a_batch(wills: Machine) -> None:
    sources = ids(wills)["pages"]
    answer = wills.succeed("split", sources, "--columns", "2").out
    assert answer.startswith("3 pictures cut, 6 parts made.")
    undo = answer.split("armarium undo ")[1].strip()
    wills.succeed("undo", undo)
    assert len(ids(wills)) == 5
    batch = wills.succeed("crop", sources, "--box", "90,0,10,10", "--recursive", "--json").json
    assert [item["state"] for item in batch["items"]] == ["done"] * 3
    outside = wills.succeed("crop", sources, "--box", "90,0,11,10").out
    assert outside.startswith("0 pictures cut, 0 parts made.")
    assert outside.count("  failed: ") == 3


UNCUT = [
    (("crop", "--box", "1,2,3"), "is not a rectangle"),
    (("crop", "--box", "a,2,3,4"), "is not a rectangle"),
    (("crop", "--box", "1%,2,3,4"), "mixes pixels and %"),
    (("crop", "--box", "1.5,2,3,4"), "has fractions of pixels"),
    (("crop", "--box", "90,0,20,10"), "outside the picture"),
    (("crop", "--box", "0%,0%,0%,10%"), "no area"),
    (("crop", "--box", "1,1,1,1", "--recursive"), "is for a folder"),
    (("split",), "Give one of --columns"),
    (("split", "--at", "50%", "--rows", "2"), "Give one of --columns"),
    (("split", "--at", "100%"), "is not a position between"),
    (("split", "--at", "half"), "is not a position between"),
    (("split", "--box", "0,0,5,5", "--box", "5,0,5,5"), "are named in %"),
    (("split", "--box", "0%,0%,50%,50%"), "at least 2"),
    (("split", "--box", "0%,0%,60%,100%", "--box", "40%,0%,60%,100%"), "overlap"),
    (("split", "--rows", "2", "--recursive"), "is for a folder"),
    (("uncrop",), "."),
    (("unsplit",), "."),
]


def test_cuts_that_cannot_be_are_refused(wills: Machine) -> None:
    before = ids(wills)
    for (command, *options), said in UNCUT:
        assert said in wills.expect_refusal(command, before["1.png"], *options), (command, options)
    assert ids(wills) == before


def test_pictures_and_folders_are_not_cut_together(wills: Machine) -> None:
    known_ids = ids(wills)
    assert "not a folder among others" in wills.expect_refusal(
        "crop", known_ids["1.png"], known_ids["Sources"], "--box", "0,0,9,9"
    )
    assert wills.expect_refusal("split", "f" * 32, "--rows", "2").startswith("There is no document")
    wills.succeed("trash", known_ids["3.png"])
    half = wills.expect_refusal("split", known_ids["2.png"], known_ids["3.png"], "--rows", "2")
    assert half.endswith("1 picture named before it stays split.")


def test_enhance_makes_a_rendition_of_each_picture_once(wills: Machine) -> None:
    known_ids = ids(wills)

    def roles() -> list[str]:
        answer = wills.succeed("show", known_ids["1.png"], "--json").json
        return [rendition["role"] for rendition in answer["attachments"]["renditions"]]

    output = wills.succeed(
        "enhance", known_ids["1.png"], known_ids["2.png"], "--make", "background-removed"
    ).out
    assert output.startswith(
        "Background-removed: 2 pictures have one now.\nTake it back with: armarium undo "
    )
    assert wills.succeed("enhance", "--make", "background-removed", "--json").json["pictures"] == 3
    assert roles() == ["archival-original", "background-removed"]
    wills.succeed("undo", output.split()[-1])
    assert roles() == ["archival-original"]
    wills.expect_misuse("enhance", "--contrast", "9")
    assert wills.expect_refusal("enhance", "f" * 32).startswith("There is no document")
