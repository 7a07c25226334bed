/** Access to data of unknown form. */

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function at(value: unknown, key: string): unknown {
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function entriesOf(value: unknown): [string, unknown][] {
  return isMap(value) ? Object.entries(value) : [];
}

export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts in a list, with their positions. */
export function textsOf(value: unknown): [number, string][] {
  return itemsOf(value).flatMap((item, index) => (typeof item === 'string' ? [[index, item]] : []));
}
