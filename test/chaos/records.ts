/** Comparison of records and outcomes. */

/** The value as JSON gives it back. */
export function canonical(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** First place where two JSON values differ, with both values; undefined if they are equal. */
export function firstDifference(one: unknown, other: unknown, path = 'record'): string | undefined {
  if (isObject(one) && isObject(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const difference = firstDifference(one[key], other[key], `${path}.${key}`);
      if (difference) return difference;
    }
    return undefined;
  }
  if (Object.is(one, other)) return undefined;
  return `${path} was ${JSON.stringify(one)}, is ${JSON.stringify(other)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** An outcome in the terms of every operation of its kind: with placeholders for its name, its handle, its answers and times. */
export function outcomeText(
  outcome: unknown,
  own: { name: string; handle: string | undefined; answers: readonly number[] },
): string {
  let text = JSON.stringify(outcome) ?? 'unknown';
  for (const value of [own.name, own.handle, ...own.answers.map(String)])
    if (value) text = text.replaceAll(value, '<own>');
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s|seconds?|minutes?|min)\b/g, '<duration>');
}
