"""The refusals of branches, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, missing

unknown_branch = missing("branch", "List the branches to find the right id.")
unknown_groups = Invalid.saying(
    "unknown_group",
    "The branch has no change {groups} (any more). List its changes again and name the groups shown there.",
    groups="groups",
)
nothing_to_merge = Conflict.saying(
    "nothing_to_merge", "There is nothing to merge: {source} changed nothing since it was last merged."
)
conflicting = Conflict.saying(
    "merge_conflict",
    "Both sides changed the same, first in {first}; groups in conflict: {count:,}. Decide: keep_ours or take_theirs; of readings "
    "also keep_both. Nothing was merged.",
    groups="groups",
)
remade = Conflict.saying(
    "merge_conflict",
    "In {first}, a line that the branch changed was split or joined on one side only; groups concerned: {count:,}. A merge would put "
    "both versions of the lines beside each other: keep_ours, or undo the split or join first. Nothing was merged.",
    groups="groups",
)
removed_here = Conflict.saying(
    "merge_conflict",
    "{first} was removed for good here, with its lines and files; a merge would bring back its bare entry. keep_ours, or send the "
    "page from the branch with an export or transfer. Nothing was merged.",
    groups="groups",
)
needs_groups = Conflict.saying(
    "needs_groups",
    "What was chosen rests on changes of the branch that were not chosen ({first}). Choose those too. Nothing was merged.",
    groups="groups",
)
withheld_here = Forbidden.saying(
    "rights_restricted",
    "Something in this project is withheld from {name}, and a branch holds a whole copy of it. Ask the owner to {what}.",
)
person_deletes = Forbidden.saying(
    "person_only",
    "Only a person deletes a branch in which something was done, or that is not your own. Ask for it.",
)
not_a_branch = Conflict.saying(
    "not_a_branch",
    "{name} is a project of its own, not a branch. Name the package of a branch as the project.",
)
is_a_branch = Conflict.saying("is_a_branch", "{name} is a branch itself. Make branches of its project.")
no_project = Conflict.saying(
    "project_missing",
    "The project of this branch is not beside it and not among the known projects. Open the project first.",
)
busy_branch = Conflict.saying(
    "branch_busy", "{name} has work that must end first: {work}. Stop or finish it, then delete the branch."
)
not_a_zip = Invalid.saying("not_a_zip", "{name} does not end in .zip. Name a file that does.")
unknown_token = missing("token", "List the tokens to find the right id.")
partial_branch = Conflict.saying(
    "partial_branch",
    "{name} holds only a part of the project, so the project's later work is not brought into it. Make a new branch.",
)
