export type State = 'registered' | 'in_transit' | 'delivered' | 'returned';

export interface Scan {
  at: string;
  place: string;
  state: State;
}

/** State by the latest scan, whatever the order in which scans arrived. */
export function stateOf(scans: readonly Scan[]): State {
  const latest = scans.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
  return latest?.state ?? 'registered';
}
