// The steps of a workflow as a tree: each below the step whose output it takes.
export interface Step<T> {
  node: T;
  below: Step<T>[];
}

/** *nodes* in a tree by *edges*; a step that several lead to stands below the first of them that is shown. */
export function treeOf<T extends { node_id: string }>(
  nodes: T[],
  edges: readonly { source: string; target: string }[],
): Step<T>[] {
  const steps = new Map(nodes.map((node): [string, Step<T>] => [node.node_id, { node, below: [] }]));
  const above = new Map<string, string>();
  const leadsTo = (from: string, to: string): boolean => {
    for (let at: string | undefined = from; at !== undefined; at = above.get(at)) if (at === to) return true;
    return false;
  };
  for (const { source, target } of edges)
    if (steps.has(source) && steps.has(target) && !above.has(target) && !leadsTo(source, target))
      above.set(target, source);
  const roots: Step<T>[] = [];
  for (const [id, step] of steps) (steps.get(above.get(id) ?? '')?.below ?? roots).push(step);
  return roots;
}

/** An output of a step as text: words as they are, other things as JSON; cut where it is long. */
export function shownOutput(value: unknown, most = 3000): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.length > most ? `${text.slice(0, most)} …` : text;
}
