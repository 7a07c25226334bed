/**
 * The order of turns in a queue. Of those with the same priority, the caller with fewest operations that run is next, then the one
 * whose latest turn is longest ago: so a caller with one call doesn't wait behind the many of another. Within a caller: first come,
 * first served.
 */
import type { QueueState, Waiting } from './queue-wire.js';
import { PRIORITIES } from './tool-queue.js';

const DEFAULT_PRIORITY = (PRIORITIES.first + PRIORITIES.last) / 2;

interface Ranked {
  entry: Waiting;
  /** How many operations its caller has running, and waiting before it. */
  rank: number;
}

type Ordered = Pick<QueueState, 'running' | 'waiting' | 'lastGrants'>;

/** Those that wait, in the order of their turns if no operation ended meanwhile. */
export function inOrder({ running, waiting, lastGrants }: Ordered): Ranked[] {
  const counts = new Map<string, number>();
  const count = (principal: string) => {
    const before = counts.get(principal) ?? 0;
    counts.set(principal, before + 1);
    return before;
  };
  for (const { principal } of running) count(principal);
  return waiting
    .toSorted(byPriority)
    .map((entry) => ({ entry, rank: count(entry.principal) }))
    .sort(
      (one, other) =>
        byPriority(one.entry, other.entry) ||
        one.rank - other.rank ||
        (lastGrants[one.entry.principal] ?? 0) - (lastGrants[other.entry.principal] ?? 0),
    );
}

function byPriority(one: Waiting, other: Waiting): number {
  return (one.priority ?? DEFAULT_PRIORITY) - (other.priority ?? DEFAULT_PRIORITY);
}

/** Those whose turn it is now. */
export function due(state: Ordered & Pick<QueueState, 'limits'>): Waiting[] {
  const { concurrency, perCaller = concurrency } = state.limits;
  const free = concurrency - state.running.length;
  if (free <= 0 || state.waiting.length === 0) return [];
  return inOrder(state)
    .filter(({ rank }) => rank < perCaller)
    .slice(0, free)
    .map(({ entry }) => entry);
}
