type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object without the fields that are undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
