/** Order of jobs by `needs`: cycles, and jobs with contradicting conditions. Without recursion: chains may be long. */

/** Job name -> the jobs that it needs, all known. */
export type Needs = ReadonlyMap<string, readonly string[]>;

export interface Order {
  /** Each job after the ones that it needs. */
  sorted: string[];
  /** Each begins and ends with the same job. The first job's first need closes the cycle. */
  cycles: string[][];
}

export function sortJobs(needs: Needs): Order {
  const state = new Map<string, 'open' | 'done'>();
  const order: Order = { sorted: [], cycles: [] };
  for (const start of needs.keys()) {
    if (state.has(start)) continue;
    const path = [{ job: start, next: 0 }];
    state.set(start, 'open');
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const need = needs.get(top.job)?.[top.next++];
      if (need === undefined) {
        state.set(top.job, 'done');
        order.sorted.push(top.job);
        path.pop();
      } else if (state.get(need) === 'open') {
        const from = path.findIndex(({ job }) => job === need);
        order.cycles.push([top.job, ...path.slice(from).map(({ job }) => job)]);
      } else if (!state.has(need)) {
        state.set(need, 'open');
        path.push({ job: need, next: 0 });
      }
    }
  }
  return order;
}

export interface Contradiction {
  job: string;
  /** The job that would have to both succeed and fail. */
  because: string;
}

/** Jobs that wait for both the success and the failure of the same job. @param sorted each job after the ones that it needs */
export function contradictions(
  sorted: readonly string[],
  needs: Needs,
  conditionOf: (job: string) => unknown,
): Contradiction[] {
  const position = new Map(sorted.map((job, index) => [job, index]));
  const words = Math.ceil(sorted.length / 32);
  const succeeded = new Map<string, Uint32Array>();
  const failed = new Map<string, Uint32Array>();
  const found = new Map<string, Contradiction>();
  for (const job of sorted) {
    const [mustSucceed, mustFail] = [new Uint32Array(words), new Uint32Array(words)];
    const needed = needs.get(job) ?? [];
    const condition = conditionOf(job);
    if (condition === 'failure' && needed.length === 1) set(mustFail, position.get(needed[0]!)!);
    if (condition === 'success') {
      for (const need of needed) {
        set(mustSucceed, position.get(need)!);
        add(mustSucceed, succeeded.get(need)!);
        add(mustFail, failed.get(need)!);
      }
      const both = mustSucceed.findIndex((word, at) => (word & mustFail[at]!) !== 0);
      // Fixing the job fixes its dependents, so they aren't reported.
      if (both >= 0 && !needed.some((need) => found.has(need))) {
        const bit = 31 - Math.clz32(mustSucceed[both]! & mustFail[both]!);
        found.set(job, { job, because: sorted[both * 32 + bit]! });
      }
    }
    succeeded.set(job, mustSucceed);
    failed.set(job, mustFail);
  }
  return [...found.values()];
}

function set(bits: Uint32Array, at: number): void {
  bits[at >> 5]! |= 1 << (at & 31);
}

function add(bits: Uint32Array, others: Uint32Array): void {
  for (let at = 0; at < bits.length; at += 1) bits[at]! |= others[at]!;
}
