/** Access to data of unknown form. */
import { isObject } from '../operations/json/is-object.js';

export function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts in a list, with their positions. */
export function textsOf(value: unknown): [number, string][] {
  return itemsOf(value).flatMap((item, index) => (typeof item === 'string' ? [[index, item]] : []));
}
