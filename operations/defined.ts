type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The object without the fields that are undefined. Only for objects whose keys count: those that are spread over others, listed
 * by their keys, or become headers, variables or options of a library. JSON, digests and schemas take such a field for missing.
 */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
