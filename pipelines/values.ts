/** Access to data that may have any form. */

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A map's entry; undefined when there is none. */
export function at(value: unknown, key: string): unknown {
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A map's entries; empty for anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return isMap(value) ? Object.entries(value) : [];
}

/** A list's items; empty for anything else. */
export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts in a list, with their positions. */
export function textsOf(value: unknown): [number, string][] {
  return itemsOf(value).flatMap((item, index) => (typeof item === 'string' ? [[index, item]] : []));
}
