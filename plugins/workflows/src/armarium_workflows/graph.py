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
from armarium_workflows.paths import parse_path, parse_pipes
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
        nodes = [NodeIn.from_stored(node) for node in stored["nodes"]]
        return cls(nodes, [Edge.from_stored(edge) for edge in stored["edges"]])

    @cached_property
    def by_id(self) -> dict[str, NodeIn]:
        """Return each node by its id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def edges_into(self) -> dict[str, list[Edge]]:
        """Return the edges that end at each node."""
        by_target: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            by_target[edge.target].append(edge)
        return by_target

    @cached_property
    def order(self) -> list[NodeIn]:
        """Return the nodes so that each comes after those it depends on, otherwise in the order in which they
        were sent.
        """
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for node in self.nodes:
            sorter.add(node.id, *(node_id for node_id in self.read_by(node) if node_id in self.by_id))
        return [self.by_id[node_id] for node_id in sorter.static_order()]

    @cached_property
    def ends(self) -> list[str]:
        """Return the nodes from which no edge leads on."""
        return [node.id for node in self.nodes if all(edge.source != node.id for edge in self.edges)]

    def read_by(self, node: NodeIn) -> list[str]:
        """Return the nodes whose outputs *node* uses, by its edges and by paths."""
        sources = [edge.source for edge in self.edges_into[node.id]]
        for text in paths_of(node):
            try:
                path = parse_path(text)
            except PathFault:
                continue
            if path.node is not None:
                sources.append(path.node)
        return list(dict.fromkeys(sources))


def paths_of(node: NodeIn) -> list[str]:
    """Return the paths that *node* names."""
    paths = [mapping.source_path for mapping in node.input_mappings]
    if node.tool == "branch" and isinstance(node.config.get("path"), str):
        paths.append(node.config["path"])
    return paths


def problems_of(graph: Graph, jobs: Mapping[str, RecipeJob]) -> list[str]:
    """Return why *graph* cannot run, as sentences that name node and port; none if it can."""
    if len(graph.nodes) > MOST_NODES:
        return [
            f"A workflow has at most {MOST_NODES} nodes, and this one has {len(graph.nodes)}; split it into a chain."
        ]
    if not graph.nodes:
        return ["A workflow without nodes does nothing; add one."]
    problems = [*_find_repeated(graph), *_unknown(graph, jobs)]
    if problems:
        # The following checks require valid ids and tools.
        return problems
    problems = [*_edges(graph, jobs), *_mappings(graph, jobs), *_settings(graph, jobs)]
    circle = _circle(graph)
    if circle is not None:
        return [*problems, circle]
    return [*problems, *_find_missing(graph, jobs)]


def _find_repeated(graph: Graph) -> Iterator[str]:
    for noun, ids in (
        ("node", [node.id for node in graph.nodes]),
        ("edge", [edge.id for edge in graph.edges]),
    ):
        earlier: set[str] = set()
        for identity in ids:
            if identity in earlier:
                yield f"Two {noun}s have the id {identity}; each needs its own."
            earlier.add(identity)


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
    yield from _never_reached(graph)


def _never_reached(graph: Graph) -> Iterator[str]:
    """Yield the nodes that wait for two ways from one branch: a page takes one of them."""
    for node in graph.nodes:
        ways: dict[str, set[str | None]] = defaultdict(set)
        for edge in graph.edges_into[node.id]:
            ways[edge.source].add(edge.when)
        for source, values in ways.items():
            if node.tool != "merge" and len(values) > 1 and source in graph.by_id:
                yield (
                    f"Node {node.id} waits for {len(values)} ways from branch {source}, of which a page takes one; put a "
                    "merge between them."
                )


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
        pipes = [mapping.transform for mapping in node.input_mappings if mapping.transform is not None]
        if node.tool in ("transform", "map") and node.config.get("transform") is not None:
            pipes.append(str(node.config["transform"]))
        try:
            for text in paths_of(node):
                path = parse_path(text)
                if path.node is not None and path.node not in graph.by_id:
                    yield f"Node {node.id} reads {text[:120]}, but there is no node {path.node}."
            for text in pipes:
                parse_pipes(text)
        except PathFault as fault:
            yield f"Node {node.id}: {fault}"


def _settings(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    """Yield invalid settings, among those that are known before a run."""
    for node in graph.nodes:
        if node.tool == "branch" and not isinstance(node.config.get("path", "$.nodes"), str):
            yield f"Node {node.id} branches by config.path, which must be a text such as $.nodes.<id>.<key>."
        if node.tool in BUILT_IN:
            continue
        job = jobs[node.tool]
        mapped = {mapping.port_id for mapping in node.input_mappings}
        settings = {
            **node.config,
            **{key: value for key, value in node.inputs.items() if key not in job.takes},
        }
        try:
            job.parse({name: value for name, value in settings.items() if name not in mapped})
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


def _find_missing(graph: Graph, jobs: Mapping[str, RecipeJob]) -> Iterator[str]:
    for node in graph.nodes:
        fed = {edge.target_port for edge in graph.edges_into[node.id]} | set(node.inputs)
        fed |= {mapping.port_id for mapping in node.input_mappings}
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
