import { expect, test } from 'vitest';
import { inParts } from './files';

const file = (path: string, size = 10) => ({ path, file: { size } as File });

test('three hundred files go in parts, in the order of their numbers', () => {
  const parts = inParts(Array.from({ length: 300 }, (_, index) => file(`Box/${300 - index}.jpg`)));
  expect(parts.every((part) => part.length <= 40)).toBe(true);
  expect(parts.flat().map((one) => one.path)).toEqual(
    Array.from({ length: 300 }, (_, index) => `Box/${index + 1}.jpg`),
  );
});

test('names are in the order of the engine', () => {
  const names = ['9.jpg', '10.jpg', 'Ávila 2/z.jpg', 'avila_3/a.jpg', 'AVILA.jpg', 'Ávila.jpg', 'zeta.jpg'];
  expect(inParts([...names].reverse().map((name) => file(name))).flat()).toEqual(
    names.map((name) => file(name)),
  );
});

test('a picture and its layout file are never parted', () => {
  const parts = inParts(
    Array.from({ length: 61 }, (_, index) => [file(`${index}.jpg`, 3e6), file(`${index}.xml`)]).flat(),
  );
  for (const part of parts) {
    const names = part.map((one) => one.path);
    for (const name of names)
      expect(names).toContain(name.replace(/\.(jpg|xml)$/, name.endsWith('xml') ? '.jpg' : '.xml'));
  }
});

test('a file larger than a part goes by itself', () => {
  expect(
    inParts([file('a.jpg', 1), file('b.tif', 5e8), file('c.jpg', 1)]).map((part) => part.length),
  ).toEqual([1, 1, 1]);
});
