import { expect, test } from 'vitest';
import { asLarge, replaced } from './words';

test('only the words that were found are replaced, wherever they stand', () => {
  const line = 'viile de Paris, la viile';
  expect(
    replaced(
      line,
      [
        [0, 5],
        [19, 24],
      ],
      'ville',
    ),
  ).toBe('ville de Paris, la ville');
  expect(replaced(line, [], 'ville')).toBe(line);
});

test('letters outside the basic plane count as one', () => {
  expect(replaced('𐌰𐌱 viile', [[3, 8]], 'ville')).toBe('𐌰𐌱 ville');
});

test('a word is written as large as the one it replaces', () => {
  expect(asLarge('Viile', 'ville')).toBe('Ville');
  expect(asLarge('VIILE', 'ville')).toBe('VILLE');
  expect(asLarge('viile', 'Ville')).toBe('Ville');
  expect(asLarge('ⴰⴱ', 'ⴰⴲ')).toBe('ⴰⴲ');
});
