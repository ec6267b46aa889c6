/** A choice that this browser remembers. Without storage (private windows) it is simply forgotten. */

export function remembered<T extends string>(key: string, valid: (value: string) => value is T) {
  const name = `coder.${key}`;
  return {
    get(): T | undefined {
      try {
        const value = localStorage.getItem(name);
        return value !== null && valid(value) ? value : undefined;
      } catch {
        return undefined;
      }
    },
    set(value: T | undefined) {
      try {
        if (value === undefined) localStorage.removeItem(name);
        else localStorage.setItem(name, value);
      } catch {
        // Nothing is lost but the memory of the choice.
      }
    },
  };
}
