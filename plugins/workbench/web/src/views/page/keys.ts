// The keys of the page view: what each does, where it works, and how it is shown under `?`.
import type { Key } from '$lib/i18n/index.svelte';
import { kept } from '$lib/kept.svelte';

/** Whether the keys work by themselves beside the text; else only with Alt (WCAG 2.1.4). */
export const singleKeys = kept<boolean>('page.singleKeys', true);

export type Command =
  | 'help'
  | 'nextLine'
  | 'previousLine'
  | 'nextDoubtful'
  | 'zoomIn'
  | 'zoomOut'
  | 'whole'
  | 'width'
  | 'turn'
  | 'shapes'
  | 'edit'
  | 'line'
  | 'region'
  | 'finish'
  | 'delete'
  | 'moveUp'
  | 'moveDown'
  | 'leave'
  | 'nextPage'
  | 'previousPage';

/** What only somebody who may change the page can do. */
export const WRITING: ReadonlySet<Command> = new Set([
  'edit',
  'line',
  'region',
  'finish',
  'delete',
  'moveUp',
  'moveDown',
]);

interface Binding {
  command: Command;
  /** Names of keys as `KeyboardEvent.key` gives them. */
  keys: string[];
  /** With Alt it works also while a line is being typed. */
  alt?: boolean;
  /** An arrow key that is pressed with Shift. */
  shift?: boolean;
  title: Key;
}

export const BINDINGS: Binding[] = [
  { command: 'nextLine', keys: ['ArrowDown', 'j'], alt: true, title: 'keys.nextLine' },
  { command: 'previousLine', keys: ['ArrowUp', 'k'], alt: true, title: 'keys.previousLine' },
  { command: 'moveDown', keys: ['ArrowDown'], alt: true, shift: true, title: 'keys.moveDown' },
  { command: 'moveUp', keys: ['ArrowUp'], alt: true, shift: true, title: 'keys.moveUp' },
  { command: 'nextDoubtful', keys: ['n'], alt: true, title: 'keys.nextDoubtful' },
  { command: 'nextPage', keys: ['PageDown', ']'], alt: true, title: 'keys.nextPage' },
  { command: 'previousPage', keys: ['PageUp', '['], alt: true, title: 'keys.previousPage' },
  { command: 'zoomIn', keys: ['+', '='], alt: true, title: 'keys.zoomIn' },
  { command: 'zoomOut', keys: ['-'], alt: true, title: 'keys.zoomOut' },
  { command: 'whole', keys: ['0'], alt: true, title: 'keys.whole' },
  { command: 'width', keys: ['9'], alt: true, title: 'keys.width' },
  { command: 'turn', keys: ['r'], alt: true, title: 'keys.turn' },
  { command: 'shapes', keys: ['s'], alt: true, title: 'keys.shapes' },
  { command: 'edit', keys: ['e'], alt: true, title: 'keys.edit' },
  { command: 'line', keys: ['l'], title: 'keys.line' },
  { command: 'region', keys: ['g'], alt: true, title: 'keys.region' },
  { command: 'finish', keys: ['Enter'], title: 'keys.finish' },
  { command: 'delete', keys: ['Delete'], alt: true, title: 'keys.delete' },
  { command: 'leave', keys: ['Escape'], title: 'keys.leave' },
  { command: 'help', keys: ['?'], title: 'keys.help' },
];

/** What is open below the field in which a line is typed. */
export type Opened = 'letters' | 'readings' | 'writing' | null;

/** Keys of the field in which a line is typed. */
export const TYPING: { keys: string; title: Key }[] = [
  { keys: 'Enter', title: 'keys.save' },
  { keys: 'Shift+Enter', title: 'keys.saveBack' },
  { keys: 'Escape', title: 'keys.revert' },
  { keys: 'Alt+L', title: 'keys.letters' },
  { keys: 'Alt+O', title: 'keys.readings' },
  { keys: 'Alt+U', title: 'keys.unclear' },
  { keys: 'Alt+M', title: 'naming.title' },
  { keys: 'Alt+W', title: 'writing.title' },
  { keys: 'Alt+X', title: 'keys.split' },
  { keys: 'Alt+C', title: 'page.join' },
];

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

export function commandOf(event: KeyboardEvent): Command | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey) return null;
  // A button or a link that has the focus is pressed by Enter.
  if (event.key === 'Enter' && event.target instanceof Element && event.target.closest('a, button'))
    return null;
  const typing = isTyping(event.target);
  const named = event.key.length > 1 && event.key !== 'Delete';
  if (!event.altKey && (typing || (!named && !singleKeys.value))) return null;
  // A letter with Alt may give another letter on some keyboards; its place says which key it is.
  const place = event.altKey && /^Key[A-Z]$/.test(event.code) ? event.code.slice(3).toLowerCase() : event.key;
  const shifted = event.shiftKey && event.key.startsWith('Arrow');
  const found = BINDINGS.find((one) => one.keys.includes(place) && (one.shift ?? false) === shifted);
  return found && (!event.altKey || found.alt) ? found.command : null;
}
