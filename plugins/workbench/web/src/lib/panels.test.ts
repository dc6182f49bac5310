import { expect, test } from 'vitest';
import { isGreeting } from './panels';

test('a panel is heard when it greets, and otherwise not', () => {
  expect(isGreeting({ armarium: 'ready' })).toBe(true);
  for (const one of [null, 'ready', 1, {}, { armarium: 'token' }, ['ready']])
    expect(isGreeting(one)).toBe(false);
});
