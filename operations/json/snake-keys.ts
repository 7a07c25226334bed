type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

type SnakeKeys<Fields> = { [Key in keyof Fields as SnakeCase<Key & string>]: Fields[Key] };

/** The object with its own field names in snake case, as on the wire: `{closedAt}` becomes `{closed_at}`. Values stay as they are. */
export function snakeKeys<Fields extends object>(fields: Fields): SnakeKeys<Fields> {
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [snakeCase(name), value]),
  ) as SnakeKeys<Fields>;
}
