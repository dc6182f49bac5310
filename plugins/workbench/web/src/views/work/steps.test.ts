import { expect, test } from 'vitest';
import { shownOutput, treeOf, type Step } from './steps';

const node = (node_id: string) => ({ node_id });
const edge = (source: string, target: string) => ({ source, target });
type Nested = [string, Nested[]];
const names = (steps: Step<{ node_id: string }>[]): Nested[] =>
  steps.map((one) => [one.node.node_id, names(one.below)]);

test('each step stands below the one it follows, once', () => {
  const nodes = ['pages', 'read', 'check', 'write', 'alone'].map(node);
  const edges = [edge('pages', 'read'), edge('read', 'check'), edge('read', 'write'), edge('check', 'write')];
  expect(names(treeOf(nodes, edges))).toEqual([
    [
      'pages',
      [
        [
          'read',
          [
            ['check', []],
            ['write', []],
          ],
        ],
      ],
    ],
    ['alone', []],
  ]);
});

test('no step is lost, whatever the edges say', () => {
  const nodes = ['a', 'b', 'c'].map(node);
  const edges = [edge('a', 'b'), edge('b', 'a'), edge('c', 'c'), edge('x', 'a')];
  expect(names(treeOf(nodes, edges))).toEqual([
    ['a', [['b', []]]],
    ['c', []],
  ]);
});

test('an output is shown as it is written, and not without end', () => {
  expect(shownOutput('<b>')).toBe('<b>');
  expect(shownOutput({ a: 1 })).toContain('"a": 1');
  expect(shownOutput('x'.repeat(20), 5)).toBe('xxxxx …');
  expect(shownOutput(undefined)).toBe('');
});
