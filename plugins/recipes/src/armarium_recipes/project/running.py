"""The body of `run-a-recipe`: one card after the other, each a child job, over pages that may change meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import (
    AfterChildren,
    Engine,
    Invalid,
    JobContext,
    Library,
    NewJob,
    RecipeJob,
    RetryLater,
    ServiceError,
    find_job,
    is_among,
    new_id,
)
from armarium_documents.api import documents, pages_under, representations
from armarium_reading.api import going_download
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.project import outputs, run_rows
from armarium_recipes.project.accounts import NONE_DONE, account_of
from armarium_recipes.project.arrivals import import_goes_on, pages_of_import
from armarium_recipes.project.cards_of_run import RunCard, words_of
from armarium_recipes.project.noticing import notice
from armarium_recipes.project.plan import make_plan, pages_of_card, select_pages_left, whole_pages
from armarium_recipes.project.saving import SavedSetup, read_saved
from armarium_recipes.schemas.recipe import Override
from armarium_workflows.api import pages_done

WORKFLOWS = ("workflow", "split-pages", "read-lines")
"""Kinds of card that are runs of a shipped workflow."""


LEAVE_WITHDRAWN = (
    "Pages may no longer leave this machine, and it runs at a provider. Allow it in setup, or "
    "choose another model, and start again."
)


class CardFailed(Exception):
    """A card failed; the sentence says why."""


def run_recipe(job: JobContext) -> dict[str, Any]:
    """Run the recipe. After a kill no card is begun twice: the child job it began is in the checkpoint."""
    return _Runner(job).run()


class _Runner:
    """One run; its state is in the job's checkpoint and in the row of the run."""

    def __init__(self, job: JobContext) -> None:
        self.job = job
        with job.library.db.read() as conn:
            self.row = run_rows.run_row(conn, job.job_id)

    def run(self) -> dict[str, Any]:
        """Run all cards; the run fails with the first card that fails."""
        if not self.job.checkpoint:
            self._begin()
        elif self.row["state"] is not None:
            self._take_up_again()
        cards = self.row["cards"]
        while (at := self.job.checkpoint["at"]) < len(cards):
            self.job.check()
            card = run_rows.card_of(cards[at])
            try:
                if self.job.checkpoint.get("child") is None:
                    self._begin_card(card)
                else:
                    self._end_card(card)
            except (CardFailed, ServiceError) as failure:
                why = failure.detail if isinstance(failure, ServiceError) else str(failure)
                self._stop(at, card, why)
            cards = self.row["cards"]
        result = {"cards": len(cards)}
        if self.row["state"] is None:
            self.job.save(
                self.job.checkpoint, along=lambda conn: run_rows.conclude(conn, self.job.job_id, "done", None)
            )
        return result

    def _begin(self) -> None:
        with self.job.library.db.read() as conn:
            if run_rows.other_going(conn, self.job.job_id):
                raise RetryLater("Another run of the recipe is in progress.", seconds=5, code="dependency")
            import_id = self.row["settings"].get("import_id")
            if import_id is not None and import_goes_on(conn, import_id):
                raise RetryLater("The import is in progress.", seconds=3, code="dependency")
        if self.row["started_by"] == "import":
            self._plan_for_import()
        else:
            self.job.save({"at": 0})

    def _plan_for_import(self) -> None:
        job = self.job
        notice(job.engine, job.library)
        with job.library.db.read() as conn:
            pages = whole_pages(_list_present(conn, pages_of_import(conn, job.job_id)), conn)
            plan = make_plan(job.engine, job.library, conn, pages=pages)
        refusals = [refusal for refusal in plan.refusals if refusal["kind"] != "nothing-left"]
        if plan.uses and plan.first_yes is None:
            sentence = (
                "No person has agreed yet to a step of this recipe that sends pages away. Press Start once."
            )
            refusals.append({"kind": "cloud-not-allowed", "sentence": sentence, "fix": "allow-cloud"})
        setup = plan.kept
        values = {
            "recipe_version": setup.recipe.version if setup.recipe is not None else 0,
            "page_ids": pages,
            "cards": stored_cards(plan) if not refusals else [],
            "skipped": plan.skipped_steps,
            "refusals": refusals,
            "settings": {**self.row["settings"], "overrides": setup.answer()["overrides"]},
        }
        self._save({"at": 0}, **values)
        if refusals:
            reason = " ".join(refusal["sentence"] for refusal in refusals[:5])
            self._save(job.checkpoint, state="failed", reason=reason)
            raise Invalid(reason, code="recipe_cannot_run")

    def _take_up_again(self) -> None:
        """Resume a failed or cancelled run that a person retries: the card at which it stopped is begun again."""
        at = self.job.checkpoint["at"]
        if self.row["refusals"]:
            self._plan_for_import()
            return
        cards = [
            card if number < at else {**card, "state": None, "why": None, "child_id": None}
            for number, card in enumerate(self.row["cards"])
        ]
        number = self.job.checkpoint.get("again", 0) + 1
        self._save({"at": at, "again": number}, cards=cards, state=None, reason=None, finished_at=None)

    def _save(self, checkpoint: dict[str, Any], **values: Any) -> None:
        self.job.save(checkpoint, along=lambda conn: run_rows.change_run(conn, self.job.job_id, **values))
        self.row = {**self.row, **values}

    def _begin_card(self, card: RunCard) -> None:
        at = self.job.checkpoint["at"]
        card = self._with_model(card)
        with self.job.library.db.read() as conn:
            if card.uses_cloud and not _may_leave(conn):
                raise CardFailed(LEAVE_WITHDRAWN)
            pages, why = self._pages(conn, card)
            texts = outputs.fingerprints(conn, pages)
            sentences = outputs.words_about(conn, card.job, follow_pages(conn, self.row["page_ids"]))
        if not pages:
            state = "not run" if why is not None else "done"
            words = why or " ".join(["Every page has already been through it.", *sentences])
            self._go_on(at, state=state, why=words, account=NONE_DONE)
            return
        checkpoint = {**self.job.checkpoint, "texts": texts}
        recipe = self.job.engine.recipe_jobs.get(card.job)
        if card.card in WORKFLOWS or (recipe is not None and recipe.each == "page"):
            params = {
                "workflow_id": card.workflow_id or f"system-{card.job}",
                "job_id": self.job.job_id,
                "page_ids": pages,
                "title": card.title[:200],
                "inputs": self._inputs(card),
                "pages_may_leave": card.uses_cloud,
            }
            self.job.act(
                "workflow.execute_in_job",
                params,
                checkpoint=lambda answer: {**checkpoint, "child": answer["thread_id"]},
            )
        else:
            child = new_id()
            new = self._new_job(card, recipe, pages)
            self.job.spawn_many([replace(new, job_id=child)], checkpoint={**checkpoint, "child": child})
        raise AfterChildren

    def _inputs(self, card: RunCard) -> dict[str, Any]:
        """Return the settings of a card; a step that reads lines reads those that lack a text, unless it is
        repeated."""
        if not reads_some_lines(self.job.engine, card.job) or "lines" in card.settings:
            return card.settings
        settings, step = self.row["settings"], card.steps[0]
        again = "all" if step in settings.get("redo", ()) else "unread"
        return {
            **card.settings,
            "lines": "unchecked" if step in settings.get("redo_unchecked", ()) else again,
        }

    def _new_job(self, card: RunCard, recipe: RecipeJob | None, pages: Sequence[str]) -> NewJob:
        key = f"{card.id}:{self.job.checkpoint.get('again', 0)}"
        if recipe is None:
            far = card.uses_cloud
            args = {**card.settings, "page_ids": list(pages)}
            return NewJob(
                card.job, args, card.title, total=len(pages), key=key, lane="network" if far else None
            )
        settings = recipe.parse(card.settings)
        placed = recipe.find_placement(self.job.engine, self.job.library, settings)
        args = recipe.arguments(pages, settings)
        return NewJob(
            recipe.kind, args, card.title, total=len(pages), key=key, model=placed.model, lane=placed.lane
        )

    def _with_model(self, card: RunCard) -> RunCard:
        """Return *card* once its model is on this machine; waits while the model is being downloaded."""
        if card.download is None:
            return card
        known = {card.id: card for card in cards_here(self.job.engine, self.job.library)}
        known_card = known.get((card.choice or {}).get("id", ""))
        if known_card is not None and known_card.installed:
            return card
        runtime, model = card.download["runtime"], card.download["id"]
        with self.job.engine.state.read() as conn:
            going = going_download(conn, runtime, model)
        if going is not None:
            raise RetryLater(f"The model {model} is being downloaded.", seconds=5, code="dependency")
        raise CardFailed(
            f"The model {model} is not on this machine. Download it, or choose another, and start again."
        )

    def _pages(self, conn: Connection, card: RunCard) -> tuple[list[str], str | None]:
        """Return the pages the card has to process now, and why there are none if a condition does not hold."""
        settings = self.row["settings"]
        overrides = [Override.from_stored(stored) for stored in settings.get("overrides", [])]
        setup = SavedSetup(overrides=overrides)
        pages = pages_of_card(conn, card, setup, follow_pages(conn, self.row["page_ids"]))
        pages, why = _under_condition(conn, card, pages)
        if why is not None:
            return [], why
        redo, redo_unchecked = settings.get("redo", ()), settings.get("redo_unchecked", ())
        return select_pages_left(conn, card, pages, redo, redo_unchecked)[0], None

    def _end_card(self, card: RunCard) -> None:
        checkpoint = self.job.checkpoint
        child = checkpoint["child"]
        with self.job.library.db.read() as conn:
            ended = find_job(conn, child)
            if ended is not None and ended.is_going:
                raise AfterChildren
            account = account_of(conn, child)
        at = checkpoint["at"]
        why = "Its job no longer exists." if ended is None else ended.why_not_done
        if why is not None:
            cards = run_rows.with_card(self.row["cards"], at, child_id=child, account=account)
            self._save(self.job.checkpoint, cards=cards)
            raise CardFailed(why)
        self._note_pages(card, child, checkpoint["texts"])
        self._go_on(at, state="done", child_id=child, account=account, why=None)

    def _note_pages(self, card: RunCard, child: str, texts: dict[str, str]) -> None:
        recipe = self.job.engine.recipe_jobs.get(card.job)
        if recipe is None or card.job in outputs.UNTOLD:
            return
        with self.job.library.db.write() as conn:
            # None for a job that is not a run of a workflow.
            pages = pages_done(conn, child)
            if "line_readings" in recipe.gives:
                texts = outputs.fingerprints(conn, pages)
            # A page that was split is done, and so are the halves that replace it.
            pages = list(
                dict.fromkeys([*pages, *(follow_pages(conn, pages) if card.card == "split-pages" else ())])
            )
            outputs.note_done(conn, recipe, pages, child, texts)

    def _go_on(self, at: int, **values: Any) -> None:
        again = {"again": self.job.checkpoint["again"]} if "again" in self.job.checkpoint else {}
        cards = run_rows.with_card(self.row["cards"], at, **values)
        self._save({"at": at + 1, **again}, cards=cards)

    def _stop(self, at: int, card: RunCard, why: str) -> None:
        """Record that a card failed: later cards are not run, and the run fails with the card's reason."""
        cards = run_rows.with_card(self.row["cards"], at, state="failed", why=why)
        reason = f"{card.title} failed: {why}"
        self._save(self.job.checkpoint, cards=cards, state="failed", reason=reason)
        raise Invalid(reason, code="recipe_card_failed")


def reads_some_lines(engine: Engine, job_id: str) -> bool:
    """Return whether a job can read some lines of a page and leave the others."""
    recipe = engine.recipe_jobs.get(job_id)
    return recipe is not None and "lines" in recipe.settings.model_fields


def _may_leave(conn: Connection) -> bool:
    """Return whether the answers still allow pages to leave."""
    answers = read_saved(conn).answers
    return answers is not None and answers.cloud_allowed


def stored_cards(plan: Any) -> list[dict[str, Any]]:
    """Return the cards of a plan as the row of a run stores them."""
    rows = []
    for run, pages_left, _ in plan.runs:
        known = plan.known.get((run.choice or {}).get("id", ""))
        speed = known.pages_per_hour if known is not None else None
        rows.append({**asdict(run), "pages_per_hour": speed, "planned": len(pages_left)})
    return rows


def follow_pages(conn: Connection, pages: Sequence[str]) -> list[str]:
    """Return *pages* as they are now: a split picture is replaced by its parts, and missing pages are dropped."""
    return whole_pages(pages_under(conn, _list_present(conn, pages), for_processing=True), conn)


def _list_present(conn: Connection, pages: Sequence[str]) -> list[str]:
    query = select(documents.c.id).where(
        is_among(documents.c.id, pages),
        documents.c.deleted_at.is_(None),
        documents.c.exclude_from_processing.is_(False),
    )
    known = set(conn.execute(query).scalars())
    return [page for page in pages if page in known]


def _under_condition(conn: Connection, card: RunCard, pages: list[str]) -> tuple[list[str], str | None]:
    """Return which of *pages* meet the step's condition, and the reason if the card is not run at all."""
    when = card.when
    least = when.get("corrected_lines_at_least")
    r = representations.c
    if least is not None:
        by_hand = select(func.count(func.distinct(r.segment_id))).where(
            r.provenance_kind == "human", r.retracted.is_(False), r.segment_id.is_not(None)
        )
        count = conn.execute(by_hand).scalar_one()
        if count < least:
            return [], f"{words_of(when)} So far there are {count}."
    if when.get("spreads_detected") and card.job != "split-pages":
        d = documents.c
        halves = select(d.id).where(
            is_among(d.id, pages),
            d.doc_type == "page",
            func.json_extract(d.metadata, "$.derived_from").is_not(None),
        )
        known = set(conn.execute(halves).scalars())
        pages = [page for page in pages if page in known]
    below = when.get("confidence_below")
    if below is not None:
        sure = (
            select(r.document_id)
            .where(is_among(r.document_id, pages), r.retracted.is_(False), r.confidence.is_not(None))
            .group_by(r.document_id)
            .having(func.avg(r.confidence) >= below)
        )
        passed_over = set(conn.execute(sure).scalars())
        pages = [page for page in pages if page not in passed_over]
    return pages, (f"{words_of(when)} No page meets this condition." if when and not pages else None)


def note_run_cancelled(engine: Engine, library: Library | None, job_id: str) -> None:
    """After a run was cancelled: record that in its row."""
    assert library is not None
    with library.db.write() as conn:
        run_rows.conclude(conn, job_id, "cancelled", "It was cancelled.")
