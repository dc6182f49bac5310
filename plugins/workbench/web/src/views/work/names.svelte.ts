// The names of pieces of work, as the engine's list has them.
import { api, ask } from '$lib/api/client';

let names = $state.raw<Record<string, string>>({});
let asked = false;

export const workNames = {
  /** The name of a piece of work; its id until the names are there. */
  of(id: string): string {
    return names[id] ?? id;
  },
  load(): void {
    if (asked) return;
    asked = true;
    ask(api.GET('/api/recipes/jobs')).then(
      ({ items }) => (names = Object.fromEntries(items.map((one) => [one.id, one.name]))),
      () => (asked = false),
    );
  },
};
