"""The background work of finding: folder by folder, each folder's proposal in one step with the checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import Conflict, Forbidden, JobContext, JobKind, RecipeJob, find_withheld, json_text
from armarium_finding import errors, store
from armarium_finding.decided import decisions_of
from armarium_finding.evidence import PageEvidence
from armarium_finding.learning import Model, examples_of, model_that_beats_the_rules
from armarium_finding.loose import has_pages_of_pictures, pages_by_folder
from armarium_finding.pages import evidence_of_page, words_of
from armarium_finding.pictures import looks_of
from armarium_finding.proposing import is_sure_enough, propose
from armarium_finding.queries import JOB_KIND
from armarium_finding.schemas import FindArgs, FindSettings
from armarium_finding.tables import table_of
from armarium_source_model.api import reading_rule

AT_ONCE = 50
"""How many pages are read in one snapshot; between two of these the job can be stopped."""


def find_documents(job: JobContext) -> dict[str, Any]:
    """Propose for every remaining folder, and accept what is certain enough; killed and run again, it does
    none twice.
    """
    args: FindArgs = job.args
    with job.library.db.read() as conn:
        folders = pages_by_folder(conn, args.page_ids)
    begun = {"folders": [], "proposal_ids": [], "documents": 0, "to_accept": None, "done": 0, "notes": {}}
    progress: dict[str, Any] = {**begun, **job.checkpoint}
    total = sum(map(len, folders.values()))
    model = _model(job)
    for folder_id, pages in folders.items():
        if folder_id in progress["folders"]:
            continue
        _accept(job, progress)
        progress = _propose(job, folder_id, pages, progress, total, model)
    progress = _accept(job, progress)
    return {
        "proposal_ids": progress["proposal_ids"],
        "documents": progress["documents"],
        "notes": progress["notes"],
        "output": {"proposal_ids": progress["proposal_ids"]},
    }


def _model(job: JobContext) -> Model | None:
    """Return the learned model if it beats the rules. Automatic acceptance is based on the rules: the model
    never accepts anything, so a run that accepts uses the rules.
    """
    if job.args.accept_above is not None:
        return None
    with job.library.db.read() as conn:
        return model_that_beats_the_rules(examples_of(store.every_proposal(conn)))


def _propose(
    job: JobContext,
    folder_id: str,
    pages: Sequence[str],
    progress: dict[str, Any],
    total: int,
    model: Model | None,
    attempts: int = 3,
) -> dict[str, Any]:
    after = {**progress, "folders": [*progress["folders"], folder_id], "done": progress["done"] + len(pages)}
    with job.library.db.read() as conn:
        if has_pages_of_pictures(conn, folder_id):
            after["notes"] = _count_note(after, "kept")
    evidence, prints = _look(job, pages, progress["done"], total)
    if not any(page.is_read for page in evidence):
        if evidence:
            after["notes"] = _count_note(after, "unread")
            job.log("warning", errors.nothing_read(len(evidence)).detail, folder_id=folder_id)
        job.save(after, done=after["done"], total=total)
        return after
    with job.library.db.read() as conn:
        decisions = decisions_of(store.every_proposal(conn, folder_id))
    proposed = propose(evidence, looks_of(job.library, list(prints)), model, decisions)
    proposal = store.sent_by_run(proposed, prints, job.job_id)
    accept = job.args.accept_above is not None
    if proposed["doubt"]:
        after["notes"] = _count_note(after, "no_cue")
        job.log("warning", proposed["doubt"], folder_id=folder_id)

    def checkpoint(answer: dict[str, Any]) -> dict[str, Any]:
        after["proposal_ids"] = [*progress["proposal_ids"], answer["id"]]
        after["documents"] = progress["documents"] + len(proposal["documents"])
        after["to_accept"] = answer["id"] if accept else None
        return after

    params = {"folder_id": folder_id, "proposal": json_text(proposal)}
    try:
        job.act("finddocs.propose", params, checkpoint=checkpoint, done=after["done"], total=total)
    except (Conflict, Forbidden) as refusal:
        if refusal.code == "against_a_decision" and attempts > 1:
            # A person decided something while the pages were looked at: it counts.
            return _propose(job, folder_id, pages, progress, total, model, attempts - 1)
        # One locked folder does not keep the others from being found.
        after |= {name: progress[name] for name in ("proposal_ids", "documents", "to_accept", "notes")}
        job.log("warning", refusal.detail, folder_id=folder_id)
        job.save(after, done=after["done"], total=total)
    return after


def _count_note(progress: dict[str, Any], note: str) -> dict[str, int]:
    """Return the notes with one more folder of which *note* holds."""
    return {**progress["notes"], note: progress["notes"].get(note, 0) + 1}


def _look(
    job: JobContext, pages: Sequence[str], done: int, total: int
) -> tuple[list[PageEvidence], dict[str, str]]:
    """Return the evidence of a folder's pages, without those that may not be exported or shown to a model."""
    table = table_of(job.engine)
    away = find_withheld(job.library, job.principal, pages, "export")
    for page_id in away:
        job.log("info", "The page is restricted and was left out.", document_id=page_id)
    visible_pages = [page_id for page_id in pages if page_id not in away]
    evidence: list[PageEvidence] = []
    prints: dict[str, str] = {}
    for start in range(0, len(visible_pages), AT_ONCE):
        job.check()
        job.progress(done + start, total)
        with job.library.db.read() as conn:
            rule = reading_rule(conn)
            for page_id in visible_pages[start : start + AT_ONCE]:
                words = words_of(conn, page_id, rule)
                prints[page_id] = words.fingerprint
                evidence.append(evidence_of_page(page_id, words, table))
    return evidence, prints


def _accept(job: JobContext, progress: dict[str, Any]) -> dict[str, Any]:
    """Accept what the rules are certain enough of in the last proposal."""
    proposal_id = progress["to_accept"]
    if proposal_id is None:
        return progress
    above = job.args.accept_above
    progress["to_accept"] = None
    with job.library.db.read() as conn:
        documents = store.read_proposal(conn, proposal_id)["documents"]
    if any(is_sure_enough(document, above) for document in documents):
        params = {"proposal_id": proposal_id, "min_confidence": above}
        try:
            job.act("finddocs.accept", params, checkpoint=progress)
            return progress
        except (Conflict, Forbidden) as refusal:
            # A page has moved meanwhile, the folder was locked, or another run has made a proposal: the rest is for
            # a person to judge.
            job.log("warning", refusal.detail, proposal_id=proposal_id)
    job.save(progress)
    return progress


FIND_DOCUMENTS = RecipeJob(
    kind=JobKind(
        name=JOB_KIND,
        lane="cpu",
        summary="Find which pages make documents.",
        run=find_documents,
        args=FindArgs,
    ),
    name="Find the documents in a folder",
    description="Proposes which of a folder's loose pages make a document, of what kind and date, and who its parties are.",
    layer="prepare",
    takes=("page_reading",),
    gives=("document_groups",),
    settings=FindSettings,
    writes=("finddocs.propose", "finddocs.accept"),
    compare="boundaries found of boundaries judged, and boundaries too many",
    each="scope",
)
