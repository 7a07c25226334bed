/** Suggestions for misspelled names. */

/** `; did you mean "steps"?`, or an empty text if no name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

/** The nearest known name, at most 3 edits away and at most a third of the name's characters, or the only one that begins with it. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > 100) return undefined;
  let best: string | undefined;
  let limit = Math.min(3, Math.ceil(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= limit) continue;
    const edits = plain(candidate) === plain(name) ? 0 : editDistance(name, candidate);
    if (edits < limit) [best, limit] = [candidate, edits];
  }
  return best ?? beginningWith(name, known);
}

/** The only known name that begins with this one: `destructiveHint` for `destructive`. */
function beginningWith(name: string, known: Iterable<string>): string | undefined {
  const longer = [...known].filter((one) => name.length > 3 && plain(one).startsWith(plain(name)));
  return longer.length === 1 ? longer[0] : undefined;
}

/** Normal form: `timeoutMinutes` and `timeout_minutes` become `timeoutminutes`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Number of letters to add, remove, replace or swap. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[to.length]!;
}
