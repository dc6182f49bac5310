"""A project in which every recipe job has run, a person who decides about anything there, and what must stay so."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decided_readers import Restless

from armarium.actions import Example
from armarium.api import Engine, Library, RecipeJob, ServiceError, raw_of
from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium_reading.api import READERS
from armarium_testing.examples import example_of
from armarium_testing.model_provider import Answer
from armarium_testing.truthful_provider import TruthfulProvider

TRUTH = (
    "Juan Garcia of Toledo sold his vineyard",
    "on the third of March 1642",
    "Dear Sir",
    "has come to hand",
)
PROVIDER = "Here"
FIND_DOCUMENTS = "find-documents-in-a-folder"
NOT_RERUN = {
    "export": "It writes files, and decides nothing.",
    "publish": "It writes files, and decides nothing.",
    "train-a-model": "It makes a model, and changes no page.",
    "transcribe-speech": "It needs a transcriber, and writes lines and readings as reading does.",
}
"""Recipe jobs that are left out, with the reason."""


class Provider(TruthfulProvider):
    """Also says what signs are, of which it is shown only pictures."""

    def next_answer(self, asked: dict[str, Any]) -> Answer:
        """As the provider, which cannot tell signs."""
        form = json.dumps(asked["body"].get("response_format", {}))
        if '"signs"' in form:
            ids = re.findall(r"[0-9a-f]{32}", form)
            return Answer(
                json.dumps({"signs": [{"id": fromkey, "is_a": "cross"} for fromkey in dict.fromkeys(ids)]})
            )
        if "response_format" not in asked["body"] and "image_url" not in json.dumps(asked["body"]):
            return Answer("It is addressed to nobody.")
        return super().next_answer(asked)

    def fill_form(self, asked: set[str], lines: list[tuple[str, str]]) -> dict[str, Any]:
        """As the provider, which cannot tell entries."""
        if "entries" in asked:
            return {"entries": [{"first_line": line, "heading": "Entry"} for line, _ in lines]}
        return super().fill_form(asked, lines)


@dataclass
class Fact:
    """What a person decided: *look* finds it in the project, *wanted* is how it was left."""

    words: str
    look: Callable[[], Any]
    wanted: Any


@dataclass
class World:
    """One project; *grounds* are, for each recipe job, the page of its example and its settings."""

    engine: Engine
    library: Library
    client: Any
    folder: Path
    grounds: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    box: list[str] = field(default_factory=list)
    """The pages among which documents are found."""
    book: list[Any] = field(default_factory=list)
    """After each decision about documents, those that a person set and rejected."""
    refused: list[str] = field(default_factory=list)
    count: Iterator[int] = field(default_factory=itertools.count)

    def do(self, action: str, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, action, params, LOCAL_OWNER).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def text(self, page: str) -> str:
        return str(self.client.get(f"/api/segments/document/{page}/text").json()["text"])

    def counting(self, segment: str) -> str | None:
        """The text that counts in a line, as its page of readings tells it."""
        answer = self.client.get(f"/api/segments/{segment}/readings").json()
        chosen = answer["counting"].get("transcription") or {}
        return next(
            (item["content"] for item in answer["items"] if item["id"] == chosen.get("representation_id")),
            None,
        )

    # The machine.

    def set_up(self, provider: Provider) -> None:
        """Make the page of each recipe job's example, and let every job run once."""
        self.engine.drivers.give(READERS, Restless.name, Restless)
        provider.add_to(self.engine, PROVIDER)
        for job in self.jobs():
            folder = self.folder / job.id
            folder.mkdir(parents=True)
            example = example_of(self.engine, job)
            assert example is not None
            ground = dict(example(Example(self.engine, self.library, LOCAL_OWNER, folder)))
            self.engine.jobs.run_until_idle(self.library)
            self.grounds[job.id] = (
                str(ground["page_id"]),
                self._settings(job, dict(ground.get("settings", {}))),
            )
        ended = {name: self.run(name) for name in self.grounds}
        assert set(ended.values()) == {("done", None)}, ended
        self.run_others()

    def jobs(self) -> list[RecipeJob]:
        """Every recipe job of every family that changes pages."""
        return [job for name, job in self.engine.recipe_jobs.items() if name not in NOT_RERUN]

    def _settings(self, job: RecipeJob, given: dict[str, Any]) -> dict[str, Any]:
        fields = job.settings.model_fields
        if "reader" in fields:
            given["reader"] = Restless.name
        elif job.uses_llm and "provider" in fields and job.id != "find-names-tag-words":
            given |= {"provider": PROVIDER, "model": "tiny"}
        if "columns" in fields:
            # As many as the provider fills in.
            given["columns"] = list("abcde")
        if job.id == FIND_DOCUMENTS:
            # First it only proposes; run again, it accepts whatever it may.
            given["accept_above"] = None
        return given

    def run(self, name: str, page: str | None = None) -> tuple[str, str | None]:
        """Run a recipe job on its page, or another one; how it ended."""
        job = self.engine.recipe_jobs[name]
        own, given = self.grounds[name]
        settings = job.parse(given)
        pages = [page or own]
        if name == FIND_DOCUMENTS:
            beside = (
                "SELECT id FROM document WHERE parent_id IN (SELECT parent_id FROM document WHERE id = ?)"
            )
            pages = [one for (one,) in self.rows(beside, own)] if self.facts == [] else self.box
            self.box = pages
        placed = job.find_placement(self.engine, self.library, settings)
        new = NewJob(
            job.kind, job.arguments(pages, settings), title=name, model=placed.model, lane=placed.lane
        )
        with self.library.db.write() as conn:
            job_id = enqueue(conn, new, started_by=LOCAL_OWNER)
        self.engine.jobs.run_until_idle(self.library)
        ((state, reason),) = self.rows("SELECT state, reason FROM job WHERE id = ?", job_id)
        return str(state), reason

    def run_others(self) -> None:
        """What machines do that is no recipe job: look for entities that may be the same."""
        self.do("entity.find_matches")
        self.engine.jobs.run_until_idle(self.library)

    def run_again(self, chance: random.Random) -> None:
        """Every job once more on its page, and some on pages of others, in any order."""
        self.grounds[FIND_DOCUMENTS][1]["accept_above"] = 0.0
        runs: list[tuple[str, str | None]] = [(name, None) for name in self.grounds]
        pages = [page for page, _ in self.grounds.values()]
        everywhere = ("find-lines", "read-a-line", "find-names-tag-words", "check", "correct", "put-in-order")
        runs += [(name, page) for name in everywhere for page in chance.sample(pages, 4)]
        chance.shuffle(runs)
        for name, page in runs:
            self.run(name, page)
        self.run_others()

    # The person.

    def decide(self, chance: random.Random, times: int) -> None:
        """Decide about *times* things, and remember each; a thing is decided about once, what rests on it with it."""
        moves = [getattr(self, name) for name in dir(self) if name.startswith("move_")]
        for _ in range(times):
            try:
                chance.choice(moves)(chance)
            except ServiceError as refusal:
                # Something else that was decided stands in the way, as it should.
                self.refused.append(refusal.code)
        # What was decided later may have changed what was decided before: that is how the person left it.
        for fact in self.facts:
            fact.wanted = fact.look()

    def _keep(self, words: str, look: Callable[[], Any]) -> None:
        self.facts.append(Fact(words, look, None))

    def _pick(self, chance: random.Random, statement: str, *given: Any) -> tuple[Any, ...] | None:
        rows = self.rows(statement, *given)
        return chance.choice(rows) if rows else None

    def _reading(self, chance: random.Random) -> tuple[Any, ...] | None:
        return self._pick(
            chance,
            "SELECT r.segment_id, r.id, s.document_id, s.pass_id FROM content_representation r JOIN segment s ON "
            "s.id = r.segment_id JOIN segment_pass p ON p.id = s.pass_id WHERE r.kind = 'transcription' AND NOT "
            "r.retracted AND s.kind = 'line' AND s.deleted_at IS NULL AND p.deleted_at IS NULL ORDER BY r.id",
        )

    def _keep_line(self, words: str, segment: str, page: str) -> None:
        text = self.counting(segment)
        self._keep(f"{words}: the line", lambda: self.counting(segment))
        self._keep(f"{words}: the page's text", lambda: (text or "") in self.text(page))

    def move_correct(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            segment, _, page, _ = found
            self.do("representation.create", segment_id=segment, text=f"By hand {next(self.count)}")
            self._keep_line("corrected", segment, page)

    def move_choose_a_reading(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            segment, reading, page, _ = found
            self.do("reading.choose", segment_id=segment, representation_id=reading)
            self._keep_line("chosen", segment, page)

    def move_confirm(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            segment, reading, _, _ = found
            given = {"layer": "readings", "target_id": reading, "verdict": "confirm", "reasons": "Seen."}
            self.do("check.verdict", **given)
            # Not of the page's text: a verdict does not say by which pass the page is read.
            self._keep("confirmed", lambda: self.counting(segment))
            self._keep(
                "the newest verdict on it",
                lambda: self.rows(
                    "SELECT verdict, trust FROM check_verdict WHERE target_id = ? ORDER BY created_at DESC, id DESC LIMIT 1",
                    reading,
                ),
            )

    def move_ground_truth(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            pass_id = found[3]
            self.do("segment.pass_ground_truth", pass_id=pass_id, ground_truth=True)
            self._keep(
                "ground truth",
                lambda: self.rows("SELECT ground_truth, deleted_at FROM segment_pass WHERE id = ?", pass_id),
            )

    def move_choose_a_pass(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            _, _, page, pass_id = found
            self.do("segment.pass_choose", pass_id=pass_id, working=True)
            self._keep(
                "the pass to work on",
                lambda: self.rows("SELECT pass_id FROM segment_pass_choice WHERE document_id = ?", page),
            )

    def move_delete_a_line(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            segment = found[0]
            ((version,),) = self.rows("SELECT version FROM segment WHERE id = ?", segment)
            self.do("segment.delete", segment_ids=[segment], expected_versions=[version])
            self._keep(
                "deleted",
                lambda: self.rows("SELECT deleted_at IS NULL FROM segment WHERE id = ?", segment),
            )

    def _entity(self, chance: random.Random, where: str = "1") -> str | None:
        found = self._pick(
            chance, f"SELECT id FROM entity WHERE merged_into_id IS NULL AND {where} ORDER BY id"
        )
        return found and found[0]

    def move_curate_an_entity(self, chance: random.Random) -> None:
        if entity := self._entity(chance):
            state = chance.choice(("verified", "rejected"))
            self.do("entity.update", entity_id=entity, curation_state=state)
            self._keep(
                state,
                lambda: self.rows(
                    "SELECT canonical_name, entity_type, names, description, curation_state, merged_into_id "
                    "FROM entity WHERE id = ?",
                    entity,
                ),
            )

    def move_take_away(self, chance: random.Random) -> None:
        column = chance.choice(("authority_links", "date_values"))
        if entity := self._entity(chance, f"{column} <> '[]'"):
            ((before,),) = self.rows(f"SELECT {column} FROM entity WHERE id = ?", entity)
            self.do("entity.update", entity_id=entity, **{column: []})
            key = "uri" if column == "authority_links" else "as_written"
            gone = {load[key] for load in json.loads(before)}
            self._keep(
                f"took away {column}",
                lambda: [
                    load[key]
                    for ((values,),) in [self.rows(f"SELECT {column} FROM entity WHERE id = ?", entity)]
                    for load in json.loads(values)
                    if load[key] in gone
                ],
            )

    def move_delete_a_mention(self, chance: random.Random) -> None:
        columns = "entity_id, segment_id, segment_char_start, segment_char_end"
        if found := self._pick(chance, f"SELECT id, {columns} FROM mention ORDER BY id"):
            self.do("mention.delete", mention_id=found[0])
            same = " AND ".join(f"{name} = ?" for name in columns.split(", "))
            self._keep(
                "no mention", lambda: self.rows(f"SELECT count(*) FROM mention WHERE {same}", *found[1:])
            )

    def move_curate_a_statement(self, chance: random.Random) -> None:
        if found := self._pick(chance, "SELECT id FROM claim ORDER BY id"):
            state = chance.choice(("curated", "rejected"))
            self.do("claim.update", claim_id=found[0], curation_state=state)
            self._keep(
                state, lambda: self.rows("SELECT text, curation_state FROM claim WHERE id = ?", found[0])
            )

    def move_decide_a_match(self, chance: random.Random) -> None:
        asked = "SELECT id, survivor_entity_id, candidate_entity_id FROM entity_match WHERE state = 'pending' ORDER BY id"
        if found := self._pick(chance, asked):
            match, *pair = found
            self.do("entity.decide_match", match_id=match, state=chance.choice(("accepted", "rejected")))
            self._keep(
                "whether two are one",
                lambda: self.rows(
                    "SELECT id, state FROM entity_match WHERE ? IN (survivor_entity_id, candidate_entity_id) "
                    "AND ? IN (survivor_entity_id, candidate_entity_id) ORDER BY id",
                    *pair,
                ),
            )

    def move_order(self, chance: random.Random) -> None:
        if found := self._reading(chance):
            _, _, page, pass_id = found
            lines = [
                one
                for (one,) in self.rows(
                    "SELECT id FROM segment WHERE pass_id = ? AND kind = 'line' AND deleted_at IS NULL ORDER BY id",
                    pass_id,
                )
            ]
            chance.shuffle(lines)
            given = {"document_id": page, "pass_id": pass_id, "name": f"By hand {next(self.count)}"}
            order = str(self.do("reading_order.create", kind="as-written", **given)["id"])
            for line in lines:
                self.do("reading_order.place", order_id=order, segment_id=line, at_end=True)
            self._keep("an order", lambda: self.client.get(f"/api/reading-orders/{order}/entries").text)

    def move_classify(self, chance: random.Random) -> None:
        if found := self._pick(
            chance,
            "SELECT id FROM document WHERE doc_type IN ('page', 'file') AND deleted_at IS NULL ORDER BY id",
        ):
            key = f"by-hand-{next(self.count)}"
            self.do("classification.create", key=key, label=f"Kind {key}")
            self.do("document.update", document_id=found[0], prototype_key=key, name=f"Named {key}")
            self._keep(
                "its kind and name",
                lambda: self.rows("SELECT prototype_key, name FROM document WHERE id = ?", found[0]),
            )

    def move_judge_documents(self, chance: random.Random) -> None:
        proposal = self._newest()
        index = chance.randrange(len(proposal["documents"]))
        own = proposal["documents"][index]["page_ids"]
        what = chance.choice(("join", "split", "reject"))
        body: dict[str, Any] = {"document_index": index}
        if what == "split":
            body["page_id"] = own[-1]
        if what == "reject":
            body = {"document_indexes": [index]}
        answer = self.client.post(f"/api/find-documents/proposals/{proposal['id']}/{what}", json=body)
        if answer.status_code == 200:
            self._keep("which pages make documents", self._find_contradictions)
            self.book.append(self._read_judged())

    def _newest(self) -> dict[str, Any]:
        (head, *_) = self.client.get("/api/find-documents/proposals").json()["items"]
        answer: dict[str, Any] = self.client.get(f"/api/find-documents/proposals/{head['id']}").json()
        return answer

    def _read_judged(self) -> tuple[set[frozenset[str]], set[frozenset[str]]]:
        """The documents that a person set, and those that a person rejected, each as its pages."""
        documents = self._newest()["documents"]
        rejected = {
            frozenset(document["page_ids"]) for document in documents if document["state"] == "rejected"
        }
        set_by = {frozenset(document["page_ids"]) for document in documents if document["adjusted_by"]}
        return set_by - rejected, rejected

    def _find_contradictions(self) -> list[Any]:
        """Documents of the newest proposal, and groups, that cut through or go beyond one that a person set, or are one
        that a person rejected; by the person's book as it was at the end.
        """
        set_by, rejected = self.book[-1]
        documents = self._newest()["documents"]
        groups: dict[str, set[str]] = {}
        for page, parent, kind in self.rows(
            "SELECT d.id, p.id, p.doc_type FROM document d JOIN document p ON p.id = d.parent_id"
        ):
            if kind == "group":
                groups.setdefault(parent, set()).add(page)
        made = [frozenset(pages) for pages in groups.values()]
        stand = [frozenset(document["page_ids"]) for document in documents if document["state"] != "rejected"]
        return [
            sorted(one)
            for one in {*made, *stand}
            if one in rejected or any(one & other and one != other for other in set_by)
        ]
