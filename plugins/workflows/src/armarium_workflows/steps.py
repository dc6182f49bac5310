"""One step of a run: a node over the pages that reach it; recipe jobs run as jobs of their own, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import (
    AfterChildren,
    Invalid,
    JobContext,
    JobRow,
    NewJob,
    Params,
    RecipeJob,
    ServiceError,
    list_jobs,
    record_activity,
)
from armarium_documents.api import page_titles
from armarium_reading.api import READING_PORTS
from armarium_source_model.api import page_text
from armarium_workflows import checkpoints
from armarium_workflows.checkpoints import PageRow, size_fault
from armarium_workflows.errors import PathFault
from armarium_workflows.graph import Graph
from armarium_workflows.paths import Pipe, apply_pipes, parse_path, parse_pipes, read, read_mapped
from armarium_workflows.ports import BUILT_IN
from armarium_workflows.queries import stored_run
from armarium_workflows.schemas.requests import Edge
from armarium_workflows.values import at_port, job_for_page, settings_of

AT_ONCE = 200
"""How many pages are examined, or enqueued, in one transaction."""


Before = Mapping[str, tuple[str, Any]]
"""What the earlier nodes made of a page: of each its state and its output."""


class Step:
    """The work of one step."""

    def __init__(self, job: JobContext) -> None:
        self.job = job
        self.thread_id: str = job.args["thread_id"]
        with job.library.db.read() as conn:
            self.run = stored_run(conn, self.thread_id)
        self.graph = Graph.of(self.run["graph"])
        self.node = self.graph.by_id[job.args["node_id"]]
        self.name = self.node.label or self.node.id
        self.into: Sequence[Edge] = self.graph.edges_into[self.node.id]
        self.sources = self.graph.read_by(self.node)

    def do(self) -> dict[str, Any]:
        """Do all of it, beginning at the checkpoint."""
        progress = self.job.checkpoint
        if not progress:
            self.job.save(
                {"phase": "begin", "next": 0}, along=lambda conn: self._tell(conn, "node_started", "Begun.")
            )
        try:
            if self.node.tool in BUILT_IN or not self.node.enabled:
                self._compute()
            else:
                recipe = self.job.engine.recipe_jobs.require(self.node.tool)
                self._hand_in(recipe)
                self._collect(recipe)
        except ServiceError as refusal:
            # The run reads this message from the step's row.
            with self.job.library.db.write() as conn:
                self._tell(conn, "node_failed", refusal.detail)
            raise
        counts = self._counts()
        self.job.save(
            {"phase": "end"}, along=lambda conn: self._tell(conn, "node_completed", "Done.", **counts)
        )
        return counts

    def _tell(self, conn: Connection, kind: Any, message: str, **data: Any) -> None:
        if self.job.checkpoint.get("phase") == "end":
            return
        record_activity(
            conn,
            kind,
            f"{self.name}: {message}",
            level="error" if kind == "node_failed" else "info",
            workflow_id=self.run["workflow_id"],
            thread_id=self.thread_id,
            node_id=self.node.id,
            metadata=data,
        )

    def _counts(self) -> dict[str, int]:
        with self.job.library.db.read() as conn:
            rows = conn.exec_driver_sql(
                "SELECT state, count(*) FROM workflow_page WHERE thread_id = ? AND node_id = ? GROUP BY state",
                (self.thread_id, self.node.id),
            ).all()
        return {f"pages_{state}": int(count) for state, count in rows}

    def _chunks(self, phase: str) -> Iterator[tuple[list[tuple[str, int]], Mapping[str, Before]]]:
        """Yield the pages that are still to be examined, with the outputs of the earlier nodes for them."""
        while True:
            self.job.check()
            progress = self.job.checkpoint
            if progress.get("phase") not in ("begin", phase):
                return
            with self.job.library.db.read() as conn:
                pages = checkpoints.pages(conn, self.thread_id, progress["next"], AT_ONCE)
                ids = [page for page, _ in pages]
                before = checkpoints.node_outputs(conn, self.thread_id, self.sources, ids)
            if not pages:
                return
            yield pages, before

    def _compute(self) -> None:
        """Execute a built-in node: each page's value is computed here."""
        for pages, before in self._chunks("compute"):
            rows = [self._compute_row(page, position, before.get(page, {})) for page, position in pages]
            at = pages[-1][1] + 1
            # Passing pages on is not counted as work on them.
            counts = {} if self.node.tool in ("input", "output") else {"done": at}
            self._keep(rows, {"phase": "compute", "next": at}, **counts)

    def _keep(self, rows: Sequence[PageRow], checkpoint: dict[str, Any], **counts: Any) -> None:
        self.job.save(
            checkpoint,
            along=lambda conn: checkpoints.keep(conn, self.thread_id, self.node.id, rows),
            **counts,
        )

    def _compute_row(self, page: str, position: int, before: Before) -> PageRow:
        why = self._does_not_reach(before)
        if why is not None:
            return PageRow(page, position, "skipped", why)
        if not self.node.enabled:
            return PageRow(page, position, "done", output={})
        try:
            output = COMPUTE[self.node.tool](self, page, before)
        except PathFault as fault:
            return PageRow(page, position, "failed", f"{self.name}: {fault}")
        if (too_large := size_fault(self.node.id, output)) is not None:
            return PageRow(page, position, "failed", too_large)
        return PageRow(page, position, "done", output=output)

    def _list_edges(self, before: Before) -> list[Edge]:
        """Return the edges along which a page arrives."""
        return [
            edge
            for edge in self.into
            if (outcome := before.get(edge.source)) is not None
            and outcome[0] == "done"
            and (edge.when is None or edge.when == (outcome[1] or {}).get("branch"))
            and not (edge.when is None and self._has_own_branch(edge.source, outcome[1] or {}))
        ]

    def _has_own_branch(self, node_id: str, output: Mapping[str, Any]) -> bool:
        """Return whether a page's value at a branch has its own edge, so that edges without a value do not apply."""
        if self.graph.by_id[node_id].tool != "branch" or (value := output.get("branch")) is None:
            return False
        return any(edge.source == node_id and edge.when == value for edge in self.graph.edges)

    def _does_not_reach(self, before: Before) -> str | None:
        """Return why a page does not reach this node; None if it does."""
        delivered = self._list_edges(before)
        enough = bool(delivered) if self.node.tool == "merge" else len(delivered) == len(self.into)
        if enough or not self.into:
            return None
        missing = next(edge for edge in self.into if edge not in delivered)
        return f"Node {missing.source} did not pass it on."

    def _roots(self, page: str, before: Before) -> dict[str, Any]:
        return {
            "nodes": {node_id: output or {} for node_id, (_, output) in before.items()},
            "inputs": self.run["inputs"],
            "files": [page] if page else [],
            "config": self.run["graph"].get("config", {}),
        }

    def value(self, port: str, page: str, before: Before) -> Any:
        """Return the value at *port*: by a path, otherwise along an edge, otherwise as the node states it."""
        for mapping in self.node.input_mappings:
            if mapping.port_id == port:
                return read_mapped(mapping.source_path, mapping.transform, self._roots(page, before))
        edges = [edge for edge in self._list_edges(before) if edge.target_port == port]
        if self.node.tool == "merge":
            return {edge.source: at_port(before[edge.source][1], edge.source_port) for edge in edges}
        if edges:
            return at_port(before[edges[0].source][1], edges[0].source_port)
        return self.node.inputs.get(port)

    def branch(self, page: str, before: Before) -> dict[str, Any]:
        """Return the value by which the edges are chosen."""
        value = self.value("value", page, before)
        text = self.node.config.get("path")
        choice = read(parse_path(text), self._roots(page, before)) if text else value
        word = choice if isinstance(choice, str) else orjson.dumps(choice).decode()
        return {"value": value, "branch": word}

    def transform(self, page: str, before: Before) -> dict[str, Any]:
        """Apply pipes to a value."""
        return {"value": apply_pipes(self.value("value", page, before), self._pipes())}

    def map(self, page: str, before: Before) -> dict[str, Any]:
        """Apply pipes to each item of a list."""
        items, pipes = self.value("items", page, before), self._pipes()
        if not isinstance(items, list):
            raise PathFault("map takes a list, and this is not one.")
        return {"items": [apply_pipes(item, pipes) for item in items]}

    def _pipes(self) -> Sequence[Pipe]:
        pipes = self.node.config.get("transform")
        return parse_pipes(str(pipes)) if pipes else ()

    def _hand_in(self, recipe: RecipeJob) -> None:
        """Enqueue a job for each page that reaches the node, or one for all of them."""
        whole: list[str] = list(self.job.checkpoint.get("whole", ()))
        for pages, before in self._chunks("hand-in"):
            skipped, reaching = list[PageRow](), list[tuple[str, int]]()
            for page, position in pages:
                why = self._does_not_reach(before.get(page, {})) or ("" if page else "The run has no pages.")
                if why:
                    skipped.append(PageRow(page, position, "skipped", why))
                else:
                    reaching.append((page, position))
            progress = {"phase": "hand-in", "next": pages[-1][1] + 1}
            if recipe.each == "scope":
                whole += [page for page, _ in reaching]
                self._keep(skipped, {**progress, "whole": whole})
            else:
                self._spawn(recipe, reaching, before, skipped, progress)
        if self.job.checkpoint["phase"] not in ("hand-in", "begin"):
            return
        progress = {"phase": "collect", "after": 0}
        if recipe.each == "scope" and whole:
            settings = self._settings(recipe, whole[0], {})
            self.job.spawn_many(
                [self._new_job(recipe, settings, whole, "scope", self.name)], checkpoint=progress
            )
        else:
            self.job.save(progress)

    def _settings(self, recipe: RecipeJob, page: str, before: Before) -> Params:
        mapped = {
            mapping.port_id: self.value(mapping.port_id, page, before)
            for mapping in self.node.input_mappings
            if mapping.port_id not in recipe.takes
        }
        return settings_of(self.job.engine, self.node, recipe, self.run, mapped)

    def _new_job(
        self, recipe: RecipeJob, settings: Params, pages: Sequence[str], key: str, title: str
    ) -> NewJob:
        placed = recipe.find_placement(self.job.engine, self.job.library, settings)
        return NewJob(
            recipe.kind,
            recipe.arguments(pages, settings),
            title=f"{recipe.name}: {title}",
            key=key,
            total=len(pages),
            model=placed.model,
            lane=placed.lane,
            subject={"kind": "page", "id": pages[0]} if len(pages) == 1 else None,
            handed_in_by=self.thread_id,
        )

    def _spawn(
        self,
        recipe: RecipeJob,
        reaching: Sequence[tuple[str, int]],
        before: Mapping[str, Before],
        rows: list[PageRow],
        progress: dict[str, Any],
    ) -> None:
        jobs, queued = list[NewJob](), list[tuple[str, int]]()
        job_by_settings: dict[str, NewJob] = {}
        with self.job.library.db.read() as conn:
            titles = page_titles(conn, [page for page, _ in reaching])
        for page, position in reaching:
            try:
                settings = self._settings(recipe, page, before.get(page, {}))
                settings_json = settings.model_dump_json()
                if settings_json not in job_by_settings:
                    job_by_settings[settings_json] = self._new_job(recipe, settings, [page], page, "page")
            except (PathFault, Invalid) as fault:
                reason = fault.detail if isinstance(fault, Invalid) else str(fault)
                rows.append(PageRow(page, position, "failed", f"{self.name}: {reason}"))
                continue
            job = job_by_settings[settings_json]
            jobs.append(job_for_page(job, recipe, settings, page, titles.get(page, page)))
            queued.append((page, position))

        def along(conn: Connection, ids: list[str]) -> None:
            handed = [PageRow(*at, "queued", job_id=job_id) for at, job_id in zip(queued, ids, strict=True)]
            checkpoints.keep(conn, self.thread_id, self.node.id, [*rows, *handed])

        self.job.spawn_many(jobs, checkpoint=progress, along=along)

    def _collect(self, recipe: RecipeJob) -> None:
        """When all pages have ended, record the output of each."""
        progress = self.job.checkpoint
        if progress["phase"] != "collect":
            return
        while children := self.job.children(progress["after"], AT_ONCE):
            self.job.check()
            if any(child.is_going for child in children):
                raise AfterChildren
            if recipe.each == "scope":
                self._take_whole(children[0])
            elif READING_PORTS & set(recipe.gives):
                for child in children:
                    self._take_reading(child)
            else:
                self._keep(self._rows(children), {"phase": "collect", "after": children[-1].seq})
            progress = self.job.checkpoint

    def _rows(self, children: Sequence[JobRow]) -> list[PageRow]:
        of_page = {str(child.key): child for child in children}
        with self.job.library.db.read() as conn:
            at = checkpoints.positions(conn, self.thread_id, list(of_page))
        return [self._outcome(child, page, at[page]) for page, child in of_page.items()]

    def _outcome(
        self, child: JobRow, page: str, position: int, more: Mapping[str, Any] | None = None
    ) -> PageRow:
        why = child.why_not_done
        if why is not None:
            return PageRow(page, position, "failed", why, job_id=child.id)
        withheld = (child.result or {}).get("withheld")
        if withheld and child.key == page:
            return PageRow(page, position, "skipped", f"{self.name}: {withheld}", job_id=child.id)
        output = {**((child.result or {}).get("output") or {}), **(more or {})}
        if (too_large := size_fault(self.node.id, output)) is not None:
            return PageRow(page, position, "failed", too_large, job_id=child.id)
        return PageRow(page, position, "done", output=output, job_id=child.id)

    def _take_whole(self, child: JobRow) -> None:
        """Record the outcome of one job for all its pages; a large output is stored only with the first."""
        with self.job.library.db.read() as conn:
            (job,) = list_jobs(conn, "args", ids=child.id, states=None)
            pages = job.args["page_ids"]
            at = checkpoints.positions(conn, self.thread_id, pages)
        first = self._outcome(child, pages[0], at[pages[0]])
        small = first.output is not None and len(orjson.dumps(first.output)) < 10_000
        waiting = [
            PageRow(page, at[page], first.state, first.reason, first.output if small else {}, child.id)
            for page in pages[1:]
        ]
        self._keep([first, *waiting], {"phase": "collect", "after": child.seq})

    def _take_reading(self, child: JobRow) -> None:
        """Write a transcription artifact that names the pass of a reading; runs are compared by it."""
        progress = {"phase": "collect", "after": child.seq}
        (row,) = self._rows([child])
        pass_id = (row.output or {}).get("pass_id") if row.state == "done" else None
        if pass_id is None:
            self._keep([row], progress)
            return
        try:
            with self.job.library.db.read() as conn:
                text = page_text(conn, row.page_id, pass_id=pass_id).text
            if self.job.checkpoint.get("made") != child.id:
                self.job.act(
                    "artifact.create",
                    {
                        "document_id": row.page_id,
                        "artifact_type": "transcription",
                        "content": text,
                        "data": {"pass_id": pass_id},
                        "workflow_id": self.run["workflow_id"],
                        "step_name": self.name[:200],
                    },
                    checkpoint={**self.job.checkpoint, "made": child.id},
                )
        except ServiceError as refusal:
            self._keep(
                [PageRow(row.page_id, row.position, "failed", refusal.detail, job_id=child.id)], progress
            )
            return
        self._keep([self._outcome(child, row.page_id, row.position, {"text": text})], progress)


COMPUTE: dict[str, Callable[[Step, str, Before], dict[str, Any]]] = {
    "input": lambda step, page, before: {"pages": page},
    "output": lambda step, page, before: {"value": step.value("value", page, before)},
    "merge": lambda step, page, before: {"value": step.value("value", page, before)},
    "branch": Step.branch,
    "transform": Step.transform,
    "map": Step.map,
}


def run_step(job: JobContext) -> dict[str, Any]:
    """The body of `workflow-step`."""
    return Step(job).do()
