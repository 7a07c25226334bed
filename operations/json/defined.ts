type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The object without its undefined fields. Use it only where keys count: spreads, listed keys, headers, variables, options of a library.
 * JSON, digests and schemas treat undefined fields as missing.
 */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
