/** JSON with the same text for equal values, for digests. Also for Temporal's sandbox. */

/** JSON with sorted keys, the same before and after a value is sent as JSON. @throws TypeError for a BigInt; RangeError for a cycle */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return canonicalJson(toJSON.call(value));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    // Leaves out what JSON.stringify does.
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
    members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}
