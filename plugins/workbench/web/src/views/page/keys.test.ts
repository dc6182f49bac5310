import { expect, test } from 'vitest';
import { BINDINGS, commandOf, singleKeys } from './keys';

const press = (key: string, more: KeyboardEventInit = {}, target: HTMLElement = document.body) => {
  let found = null as ReturnType<typeof commandOf>;
  const listen = (event: KeyboardEvent) => (found = commandOf(event));
  document.body.append(target);
  addEventListener('keydown', listen);
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }));
  removeEventListener('keydown', listen);
  return found;
};

test('a letter is a command beside the text, and a letter in it', () => {
  expect(press('n', {}, document.createElement('p'))).toBe('nextDoubtful');
  expect(press('n', {}, document.createElement('textarea'))).toBeNull();
});

test('with Alt the commands work while typing, whatever letter the keyboard makes of it', () => {
  const field = document.createElement('textarea');
  expect(press('ñ', { altKey: true, code: 'KeyN' }, field)).toBe('nextDoubtful');
  expect(press('ArrowDown', { altKey: true }, field)).toBe('nextLine');
});

test('what belongs to the browser is left to it', () => {
  expect(press('r', { ctrlKey: true }, document.createElement('p'))).toBeNull();
});

test('a person can have letters without Alt do nothing', () => {
  singleKeys.value = false;
  const beside = document.createElement('p');
  expect([press('r', {}, beside), press('Delete', {}, beside), press('Escape', {}, beside)]).toEqual([
    null,
    null,
    'leave',
  ]);
  expect(press('r', { altKey: true, code: 'KeyR' }, beside)).toBe('turn');
  singleKeys.value = true;
});

test('no key does two things', () => {
  const keys = BINDINGS.flatMap((one) => one.keys.map((key) => (one.shift ? `Shift+${key}` : key)));
  expect(new Set(keys).size).toBe(keys.length);
});
