"""The refusals of checking, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, NotFound

unknown_layer = Invalid.saying(
    "unknown_layer", "There is no layer {layer!r} to check; the layers are: {known}."
)
unknown_checker = Invalid.saying(
    "unknown_checker",
    "There is no checker {provider}/{model} for this layer. The checkers are: {known}, and if a model can "
    "check the layer, any model of the providers that were added.",
)
takes_no_prompt = Invalid.saying(
    "no_prompt",
    "The checker builtin/agreement uses no model and takes no prompt; leave prompt_file out, or name a "
    "provider and one of its models as the checker.",
)
nothing_could_be_checked = Invalid.saying("all_failed", "No page could be checked. The first failed: {first}")


unknown_target = NotFound.saying(
    "unknown_target",
    "There is no proposal {target_id} in the layer {layer}. Proposals are the ids of readings in the layer "
    "readings, of statements in claims, of entities in entities.",
    target_id="target_id",
)
other_segment = Invalid.saying(
    "other_segment",
    "The reading {target_id} does not belong to the segment {segment_id}; name its own segment, or none.",
)
unknown_episode = NotFound.saying(
    "unknown_episode",
    "There is no episode {episode_id} in the ledger of this project. Name the model call that gave the "
    "verdict, or none.",
    episode_id="episode_id",
)
unknown_run = NotFound.saying(
    "unknown_run",
    "There is no check run {job_id} in this project. Name a run by the job id in the answer to its start.",
)
nothing_to_check = Invalid.saying("no_pages", "There is no page at or below the documents that were named.")
of_a_run_alone = Forbidden.saying(
    "run_only", "Only a check run writes corrected readings with its verdicts; give your verdict as your own."
)
corrects_nothing = Invalid.saying(
    "no_correction",
    "Only the verdict correct has a correction or a replacement; leave it out or say correct.",
)

nothing_to_sample = Invalid.saying(
    "no_lines",
    "The selection has no line with a text that may be drawn. {why}Name documents that were read, or another reader.",
)
unknown_selection = Invalid.saying(
    "unknown_selection",
    "No installed family can select by {what}; leave it out, or install the one that can.",
)
all_drawn = Conflict.saying(
    "all_drawn", "Every line of the selection is already in the sample; there is none left to draw."
)
answered_already = Conflict.saying(
    "answered_already",
    "{who} has already answered this line. Ask for the next line, or send replace to put your answer in its place.",
)
says_one_thing = Invalid.saying(
    "one_answer", "Send the text of the line, or confirmed, or illegible: one of them, and not several."
)
is_blind = Invalid.saying(
    "blind",
    "This sample is transcribed blind, so that nothing can be confirmed; send what stands in the line.",
)
line_gone = Conflict.saying(
    "line_gone",
    "The page or the line has been deleted since the sample was drawn; ask for the next line, or restore it.",
)
nothing_decided = Invalid.saying(
    "nothing_decided",
    "No proposal is accepted or rejected; name those that are errors, and those that are not.",
)
other_text = Conflict.saying(
    "other_reading",
    "Another text counts in the line {segment_id} than the one that was shown, or the word is not where the proposal says. "
    "List the proposals again.",
)
overlapping = Invalid.saying(
    "overlapping",
    "Two accepted proposals of the line {segment_id} are about the same letters; accept one of them.",
)
no_correction_there = NotFound.saying(
    "no_correction_there",
    "No person has corrected the line {segment_id}; name a line that was corrected, or none for the newest corrections.",
    segment_id="segment_id",
)
