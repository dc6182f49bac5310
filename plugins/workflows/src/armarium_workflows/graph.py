"""Whether a graph can run: its nodes and edges, their types, cycles, missing inputs and paths; and the order
of its nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from armarium.api import Invalid, RecipeJob
from armarium_workflows.errors import PathFault
from armarium_workflows.paths import Path, parse_path, parse_pipes
from armarium_workflows.ports import BUILT_IN, PortSpec, fits, inputs_of, outputs_of
from armarium_workflows.schemas.requests import MOST_NODES, Edge, NodeIn


@dataclass(frozen=True)
class Graph:
    """The nodes and edges of a workflow."""

    nodes: Sequence[NodeIn]
    edges: Sequence[Edge]

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Graph:
        """Return the graph of a stored workflow."""
        nodes = [NodeIn.model_validate(node) for node in stored["nodes"]]
        return cls(nodes, [Edge.model_validate(edge) for edge in stored["edges"]])

    @cached_property
    def by_id(self) -> dict[str, NodeIn]:
        """Return each node by its id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def edges_into(self) -> dict[str, list[Edge]]:
        """Return the edges that end at each node."""
        found: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            found[edge.target].append(edge)
        return found

    @cached_property
    def order(self) -> list[NodeIn]:
        """Return the nodes so that each comes after those it depends on, otherwise in the order in which they
        were sent.
        """
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for node in self.nodes:
            sorter.add(node.id, *(one for one in self.read_by(node) if one in self.by_id))
        return [self.by_id[one] for one in sorter.static_order()]

    def read_by(self, node: NodeIn) -> list[str]:
        """Return the nodes whose outputs *node* uses, by its edges and by paths."""
        found = [edge.source for edge in self.edges_into[node.id]]
        for text in paths_of(node):
            try:
                path = parse_path(text)
            except PathFault:
                continue
            if path.node is not None:
                found.append(path.node)
        return list(dict.fromkeys(found))


def paths_of(node: NodeIn) -> list[str]:
    """Return the paths that *node* names."""
    found = [one.source_path for one in node.input_mappings]
    if node.tool == "branch" and isinstance(node.config.get("path"), str):
        found.append(node.config["path"])
    return found


def problems_of(graph: Graph, jobs: Mapping[str, RecipeJob]) -> list[str]:
    """Return why *graph* cannot run, as sentences that name node and port; none if it can."""
    if len(graph.nodes) > MOST_NODES:
        return [
            f"A workflow has at most {MOST_NODES} nodes, and this one has {len(graph.nodes)}; split it into a chain."
        ]
    if not graph.nodes:
        return ["A workflow without nodes does nothing; add one."]
    found = [*_find_repeated(graph), *_unknown(graph, jobs)]
    if found:
        # The following checks require valid ids and tools.
        return found
    found = [*_edges(graph, jobs), *_mappings(graph, jobs), *_settings(graph, jobs)]
    circle = _circle(graph)
    if circle is not None:
        return [*found, circle]
    return [*found, *_missing(graph, jobs)]


def _find_repeated(graph: Graph) -> Iterator[str]:
    for what, ids in (("node", [n.id for n in graph.nodes]), ("edge", [e.id for e in graph.edges])):
        seen: set[str] = set()
        for one in ids:
            if one in seen:
                yield f"Two {what}s have the id {one}; each needs its own."
            seen.add(one)


def _unknown(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    for node in graph.nodes:
        if node.tool not in BUILT_IN and node.tool not in jobs:
            yield (
                f"Node {node.id} names the tool {node.tool}, which no loaded plugin has; there are "
                f"{', '.join([*BUILT_IN, *jobs])}."
            )


def _edges(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    for edge in graph.edges:
        ends: list[PortSpec] = []
        for end, port_id, ports_of, way in (
            (edge.source, edge.source_port, outputs_of, "output"),
            (edge.target, edge.target_port, inputs_of, "input"),
        ):
            node = graph.by_id.get(end)
            if node is None:
                yield f"Edge {edge.id} leads to node {end}, which does not exist."
                break
            ports = ports_of(node.tool, jobs)
            port = next((port for port in ports if port.id == port_id), None)
            if port is None:
                names = ", ".join(port.id for port in ports) or "none"
                yield f"Node {end} ({node.tool}) has no {way} {port_id}; its {way}s are: {names}."
                break
            ends.append(port)
        else:
            source, target = ends
            if not fits(source, target):
                yield (
                    f"Node {edge.target} takes {target.material or target.type} at its input {target.id}, "
                    f"and node {edge.source} gives {source.material or source.type} at {source.id}."
                )
            if edge.when is not None and graph.by_id[edge.source].tool != "branch":
                yield f"Edge {edge.id} is for the value {edge.when!r}, but node {edge.source} is not a branch."


def _mappings(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    for node in graph.nodes:
        ports = {port.id for port in inputs_of(node.tool, jobs)}
        for mapping in node.input_mappings:
            if mapping.port_id not in ports:
                yield (
                    f"Node {node.id} has no input {mapping.port_id}, to which {mapping.source_path[:120]} "
                    "is mapped."
                )
        for name in node.inputs:
            if name not in ports:
                yield f"Node {node.id} has no input {name}; its inputs are: {', '.join(sorted(ports)) or 'none'}."
        pipes = [one.transform for one in node.input_mappings if one.transform is not None]
        if node.tool in ("transform", "map") and node.config.get("transform") is not None:
            pipes.append(str(node.config["transform"]))
        try:
            for text in paths_of(node):
                yield from _path(graph, node, parse_path(text), text, jobs)
            for text in pipes:
                parse_pipes(text)
        except PathFault as fault:
            yield f"Node {node.id}: {fault}"


def _path(graph: Graph, node: NodeIn, path: Path, text: str, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    if path.node is not None and path.node not in graph.by_id:
        yield f"Node {node.id} reads {text[:120]}, but there is no node {path.node}."


def _settings(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    """Yield invalid settings, among those that are known before a run."""
    for node in graph.nodes:
        if node.tool == "branch" and not isinstance(node.config.get("path", "$.nodes"), str):
            yield f"Node {node.id} branches by config.path, which must be a text such as $.nodes.<id>.<key>."
        if node.tool in BUILT_IN:
            continue
        job = jobs[node.tool]
        mapped = {one.port_id for one in node.input_mappings}
        given = {**node.config, **{k: v for k, v in node.inputs.items() if k not in job.takes}}
        try:
            job.parse({name: value for name, value in given.items() if name not in mapped})
        except Invalid as fault:
            yield f"Node {node.id}: {fault.detail}"


def _circle(graph: Graph) -> str | None:
    try:
        _ = graph.order
    except CycleError as error:
        around = " → ".join(reversed(error.args[1]))
        return (
            f"The nodes {around} form a cycle, each waiting for the next; remove one of the edges between "
            "them."
        )
    return None


def _missing(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    for node in graph.nodes:
        fed = {edge.target_port for edge in graph.edges_into[node.id]} | set(node.inputs)
        fed |= {one.port_id for one in node.input_mappings}
        ports = inputs_of(node.tool, jobs)
        for port in ports:
            if port.required and port.id not in fed:
                yield (
                    f"Node {node.id} gets nothing at its input {port.id}; connect an edge to it or give it "
                    "a value."
                )
        materials = [port.id for port in ports if port.material is not None]
        if len(materials) > 1 and not any(port.required for port in ports) and not fed & set(materials):
            yield (
                f"Node {node.id} gets nothing at any of its inputs {', '.join(materials)}; one of them is "
                "needed."
            )
