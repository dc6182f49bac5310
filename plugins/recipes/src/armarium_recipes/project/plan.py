"""What Start would do: the cards in order with the pages each has to process, what is missing, and the
probable cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Engine, Library, is_among, json_text, raw_of, withheld_nodes
from armarium_documents.api import documents, pages_under, sibling_order
from armarium_reading.api import going_download
from armarium_recipes.cards.ranking import rank
from armarium_recipes.cards.sources import cards_for, chosen_ids
from armarium_recipes.knowledge.estimates import with_measured_speeds
from armarium_recipes.models import ONLY, proposals, starts
from armarium_recipes.project import outputs
from armarium_recipes.project.cards_of_run import Cards, RunCard, cards_of, cloud_uses
from armarium_recipes.project.run_rows import find_run
from armarium_recipes.project.saving import SavedSetup, read_saved
from armarium_recipes.rules.checking import problems_of
from armarium_recipes.schemas.cards import Card

DOWNLOAD = "/api/local-models/download/{runtime}/{model}"


@dataclass
class Plan:
    """What Start would do; `answer` is how it is shown."""

    kept: SavedSetup
    pages: list[str]
    runs: list[tuple[RunCard, list[str], str | None]] = field(default_factory=list)
    """Each card with the pages it still has to process, and a note about that."""
    of: dict[str, int] = field(default_factory=dict)
    """How many pages each card applies to."""
    cards: Cards = field(default_factory=Cards)
    known: dict[str, Card] = field(default_factory=dict)
    refusals: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, str]] = field(default_factory=list)
    downloads: list[dict[str, Any]] = field(default_factory=list)
    first_yes: dict[str, Any] | None = None
    proposed: dict[str, Any] | None = None
    started: dict[str, Any] | None = None

    @property
    def uses(self) -> dict[str, str]:
        """Return what would leave this machine."""
        return cloud_uses([run for run, _, _ in self.runs])

    @property
    def skipped_steps(self) -> list[dict[str, Any]]:
        """Return the steps that are not run, as they are answered."""
        return [skipped.model_dump() for skipped in self.cards.skipped]

    def answer(self) -> dict[str, Any]:
        """Return the plan as the route answers it."""
        return {
            "started": self.started,
            "runs": [self._run(*run) for run in self.runs],
            "skipped": self.skipped_steps,
            "offered_later": [later.model_dump() for later in self.cards.later],
            "refusals": self.refusals,
            "waiting": self.waiting,
            "downloads": self.downloads,
            "proposed": self.proposed,
            "pages": len(self.pages),
            "estimate": self.estimate(),
            "first_yes": self.first_yes,
        }

    def _run(self, run: RunCard, pages_left: Sequence[str], note: str | None) -> dict[str, Any]:
        of = self.of[run.id]
        hidden = ("settings", "choice", "folder_ids", "uses_cloud", "when", "download")
        row = {key: value for key, value in asdict(run).items() if key not in hidden}
        return {**row, "done": of - len(pages_left), "of": of, "note": note}

    def estimate(self) -> dict[str, Any]:
        """Return the cost and time of each card, as far as a price or a speed is known."""
        rows = []
        for run, pages_left, _ in self.runs:
            card = self.known.get((run.choice or {}).get("id", ""))
            each = (card.cost_per_page if card is not None else None) if run.uses_cloud else 0.0
            speed = card.pages_per_hour if card is not None else None
            rows.append(
                {
                    "title": run.title,
                    "where": run.runs_on,
                    "pages": len(pages_left),
                    "cost_usd": round(each * len(pages_left), 4) if each is not None else None,
                    "time_seconds": round(len(pages_left) * 3600 / speed, 1) if speed else None,
                    "time_measured": card is not None and card.speed_measured,
                }
            )
        costs = [row["cost_usd"] for row in rows]
        total = None if None in costs else round(sum(costs), 4)  # type: ignore[arg-type]
        return {"pages": len(self.pages), "runs": rows, "total_cost_usd": total}


def make_plan(
    engine: Engine,
    library: Library,
    conn: Connection,
    *,
    redo: Sequence[str] = (),
    redo_unchecked: Sequence[str] = (),
    pages: Sequence[str] | None = None,
) -> Plan:
    """Return the plan for the project as it is in *conn*; only for *pages* if they are named. Steps in *redo*
    apply to every page, those in *redo_unchecked* to the lines that no person made or checked.
    """
    setup = read_saved(conn)
    plan = Plan(setup, list(pages) if pages is not None else all_pages(conn))
    plan.started, plan.proposed = last_start(conn), find_added_steps(conn)
    if setup.recipe is None:
        plan.refusals.append(
            _refusal("no-recipe", "The project has no recipe yet. Answer the questions of setup.", None)
        )
        return plan
    cards = cards_for(engine, library, chosen_ids(setup.recipe, setup.overrides))
    plan.known = {card.id: card for card in with_measured_speeds(conn, cards)}
    plan.cards = cards_of(engine, library, setup, plan.known)
    for run in plan.cards.runs:
        mine = pages_of_card(conn, run, setup, plan.pages)
        if run.folder_ids is not None and not mine:
            continue
        pages_left, note = select_pages_left(conn, run, mine, redo, redo_unchecked)
        plan.of[run.id] = len(mine)
        plan.runs.append((run, pages_left, note))
    plan.refusals += list(_refusals(engine, library, plan))
    _name_downloads(engine, plan)
    plan.first_yes = yes_for(conn, plan.uses)
    if not plan.refusals and not any(pages_left for _, pages_left, _ in plan.runs):
        plan.refusals.append(_nothing_left(plan))
    return plan


def all_pages(conn: Connection) -> list[str]:
    """Return every page of the project that is to be worked on, in reading order."""
    tops = conn.execute(
        select(documents.c.id)
        .where(
            documents.c.parent_id.is_(None),
            documents.c.deleted_at.is_(None),
            documents.c.exclude_from_processing.is_(False),
        )
        .order_by(*sibling_order())
    ).scalars()
    return whole_pages(pages_under(conn, list(tops), for_processing=True), conn)


def whole_pages(pages: Sequence[str], conn: Connection) -> list[str]:
    """Return *pages* without those that were split into other pages."""
    above = select(documents.c.parent_id).where(
        is_among(documents.c.parent_id, pages),
        documents.c.doc_type == "page",
        documents.c.deleted_at.is_(None),
    )
    cut = set(conn.execute(above).scalars())
    return [page for page in pages if page not in cut]


def pages_of_card(conn: Connection, run: RunCard, setup: SavedSetup, pages: Sequence[str]) -> list[str]:
    """Return which of *pages* the card's model is used for: the nearest folder with an override decides."""
    folders = {
        override.folder_id: override.card.id
        for override in setup.overrides
        if override.scope == "folder" and override.step in run.steps and override.folder_id is not None
    }
    if not folders:
        return list(pages) if run.folder_ids is None else []
    nearest = _nearest(conn, pages, list(folders))
    mine = set(run.folder_ids or ())
    if run.folder_ids is not None:
        return [page for page in pages if nearest.get(page) in mine]
    own = (run.choice or {}).get("id")
    return [page for page in pages if page not in nearest or folders[nearest[page]] == own]


def _nearest(conn: Connection, pages: Sequence[str], folders: Sequence[str]) -> dict[str, str]:
    """Return each page below one of *folders*, with the nearest of them."""
    rows = raw_of(conn).execute(
        "WITH RECURSIVE up(page, node, steps) AS (SELECT value, value, 0 FROM json_each(?) UNION ALL "
        f"SELECT up.page, d.parent_id, up.steps + 1 FROM up JOIN {documents.name} d ON d.id = up.node "
        "WHERE d.parent_id IS NOT NULL AND up.steps < 1000) "
        "SELECT page, node, min(steps) FROM up WHERE node IN (SELECT value FROM json_each(?)) GROUP BY page",
        (json_text(list(pages)), json_text(list(folders))),
    )
    return {page: node for page, node, _ in rows}


def select_pages_left(
    conn: Connection, run: RunCard, pages: Sequence[str], redo: Sequence[str], redo_unchecked: Sequence[str]
) -> tuple[list[str], str | None]:
    """Return which of *pages* a card has to process, and a note about that. A step that is in both is repeated only on the
    lines that no person made or checked.
    """
    if run.steps[0] in redo_unchecked:
        undecided = outputs.undecided_pages(conn, pages)
        pages_left = [page for page in pages if page in undecided]
        return pages_left, (
            "It is repeated on the lines that no person made or checked, on"
            f" {len(pages_left)} of {len(pages)} pages."
        )
    if run.steps[0] in redo:
        return list(pages), f"It is repeated on all {len(pages)} pages."
    done = outputs.pages_with_output(conn, run.job, pages)
    if done is None:
        return list(pages), "It is unknown on which pages this was done; it runs on every page."
    pages_left = [page for page in pages if page not in done]
    sentences = outputs.words_about(conn, run.job, pages)
    if len(pages_left) < len(pages):
        sentences.insert(0, f"Already done on {len(pages) - len(pages_left)} of {len(pages)} pages.")
    return pages_left, " ".join(sentences) or None


def _refusal(kind: str, sentence: str, fix: str | None) -> dict[str, Any]:
    return {"kind": kind, "sentence": sentence, "fix": fix}


def _refusals(engine: Engine, library: Library, plan: Plan) -> Iterator[dict[str, Any]]:
    assert plan.kept.recipe is not None
    passed_over = {skipped.step for skipped in plan.cards.skipped}
    passed_over |= {later.step for later in plan.cards.later}
    refused_steps = set()
    recipe = plan.kept.recipe.model_dump(mode="json")
    for problem in problems_of(engine, library, recipe, plan.kept.answers):
        if problem.step is None or problem.step not in passed_over:
            refused_steps.add(problem.step)
            yield _refusal(problem.kind, problem.sentence, problem.fix)
    for step, card in plan.cards.unknown:
        if step not in refused_steps:
            sentence = (
                f"The step {step} uses {card}, which is not on this machine. Choose another model for it."
            )
            yield _refusal("model-not-here", sentence, "choose-model")


def _nothing_left(plan: Plan) -> dict[str, Any]:
    if not plan.pages:
        return _refusal("nothing-left", "The project has no pages yet. Import some first.", None)
    if not plan.runs:
        return _refusal(
            "nothing-left", "No step of the recipe can be run here; the plan gives the reason for each.", None
        )
    return _refusal(
        "nothing-left",
        "Every page has been through every step. Name steps in redo to run them again, or in redo_unchecked to "
        "run them again only on lines that no person made or checked.",
        None,
    )


def _name_downloads(engine: Engine, plan: Plan) -> None:
    """Note the models to download, each once; one that is being downloaded makes its steps wait, any other
    refuses Start.
    """
    named: dict[str, dict[str, Any]] = {}
    for missing in plan.cards.missing:
        card = missing.card
        if card.download is None:
            if card.availability == "elsewhere":
                sentence = f"The model {card.name} of the step {missing.step} is not on this machine. {card.availability_words}"
                plan.refusals.append(_refusal("model-not-here", sentence, "choose-model"))
            continue
        with engine.state.read() as conn:
            going = going_download(conn, card.download.runtime, card.download.id)
        if card.id not in named:
            named[card.id] = {
                "model": card.download.id,
                "card": card.id,
                "runtime": card.download.runtime,
                "size_bytes": int(card.size_gb * 1_000_000_000),
                "route": DOWNLOAD.format(runtime=card.download.runtime, model=card.download.id),
                "downloading": going is not None,
                "job_id": going.id if going is not None else None,
                "progress": going.progress if going is not None else None,
                "instead": installed_instead(plan, missing.step),
            }
        if going is not None:
            plan.waiting.append({"step": missing.step, "model": card.download.id})
        else:
            sentence = f"The model {card.name} of the step {missing.step} is not on this machine. Download it, or use another."
            plan.refusals.append(_refusal("model-not-here", sentence, "download"))
    plan.downloads = list(named.values())


def installed_instead(plan: Plan, step: str) -> list[str]:
    """Return ids of installed cards that the rules would choose for a step, best first."""
    setup = plan.kept
    steps = setup.recipe.steps if setup.recipe is not None else ()
    job = next((candidate.job for candidate in steps if candidate.id == step), None)
    if job is None:
        return []
    answers = setup.answers
    cards = rank(
        plan.known.values(),
        job=job,
        scripts=answers.scripts if answers is not None else [],
        languages=answers.languages if answers is not None else [],
        materials=answers.materials if answers is not None else [],
        memory_gb=answers.memory_gb if answers is not None else None,
        cloud_allowed=False,
    )
    return [card.id for card in cards if card.installed and card.refused is None]


def last_start(conn: Connection) -> dict[str, Any] | None:
    """Return when Start was last pressed, and on what; None if never."""
    row = conn.execute(starts.select().order_by(starts.c.started_at.desc(), starts.c.id.desc())).first()
    if row is None:
        return None
    start = {name: getattr(row, name) for name in ("started_at", "recipe_id", "recipe_version", "pages")}
    run = find_run(conn, row.id)
    if run is not None and (hidden := withheld_nodes(conn)):
        start["pages"] -= sum(page in hidden for page in run["page_ids"])
    return {"job_id": row.id, **start}


def find_added_steps(conn: Connection) -> dict[str, Any] | None:
    """Return what was added since the last Start; None for nothing."""
    row = conn.execute(proposals.select().where(proposals.c.id == ONLY)).first()
    names = ("layers", "languages", "steps", "proposed_at")
    return {name: getattr(row, name) for name in names} if row is not None else None


def yes_for(conn: Connection, uses: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the first Start at which a person agreed to everything that *uses* sends away; None if there is
    none, or nothing leaves.
    """
    if not uses:
        return None
    for row in conn.execute(starts.select().order_by(starts.c.started_at, starts.c.id)):
        if row.cloud_uses is not None and uses.items() <= row.cloud_uses.items():
            return {"at": row.started_at, "by": row.started_by, "recipe_version": row.recipe_version}
    return None
