// A choice of the person that this browser keeps.

export interface Kept<T> {
  value: T;
}

/** A value under *name*, *first* until something else is chosen. */
export function kept<T extends string | number | boolean>(name: string, first: T): Kept<T> {
  const key = `armarium.${name}`;
  const stored = localStorage.getItem(key);
  let value = $state<T>(stored === null ? first : (JSON.parse(stored) as T));
  return {
    get value() {
      return value;
    },
    set value(chosen) {
      value = chosen;
      localStorage.setItem(key, JSON.stringify(chosen));
    },
  };
}
