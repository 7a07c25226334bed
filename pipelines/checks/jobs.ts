/** Checks of jobs: needs and their order, `for-each`, artifacts. */
import { isObject } from '../../operations/json/is-object.js';
import { didYouMean } from '../../operations/json/near-names.js';
import type { KeyPath, Report } from '../yaml/problems.js';
import { MAX_JOBS } from '../schema.js';
import { at, entriesOf, textsOf } from '../values.js';

export function checkJobs(file: unknown, report: Report): void {
  const jobs = at(file, 'jobs');
  const names = entriesOf(jobs).map(([name]) => name);
  if (isObject(jobs) && (names.length === 0 || names.length > MAX_JOBS))
    report(['jobs'], `expected 1 to ${MAX_JOBS} jobs; got ${names.length}`, names.length ? 'key' : 'value');
  checkNeeds(jobs, report);
  for (const [name, job] of entriesOf(jobs)) {
    checkForEach(file, at(job, 'for-each'), ['jobs', name, 'for-each'], report);
    checkTwice(at(job, 'outputs'), ['jobs', name, 'outputs'], report);
    checkTwice(at(job, 'artifacts'), ['jobs', name, 'artifacts'], report);
    for (const [index, pattern] of textsOf(at(job, 'artifacts')))
      checkArtifact(pattern, ['jobs', name, 'artifacts', index], report);
  }
}

function checkNeeds(jobs: unknown, report: Report): void {
  const known = new Map<string, string[]>();
  const conditions = new Map<string, unknown>();
  for (const [name, job] of entriesOf(jobs)) {
    const needs = at(job, 'needs');
    const condition = at(job, 'if') ?? 'success';
    conditions.set(name, condition);
    const kept = new Set<string>();
    for (const [index, need] of typeof needs === 'string' ? [[0, needs] as const] : textsOf(needs)) {
      const path = needPath(name, needs, index);
      if (kept.has(need)) report(path, `"${need}" is already listed; list it once`);
      else if (at(jobs, need) !== undefined) kept.add(need);
      else report(path, () => `there is no job "${need}"${didYouMean(need, Object.keys(jobs as object))}`);
    }
    known.set(name, [...kept]);
    if (condition === 'failure' && (needs === undefined || (Array.isArray(needs) && needs.length === 0)))
      report(
        ['jobs', name, 'if'],
        'the job can never run: `if: failure` is about the jobs in `needs`, and it has none',
      );
  }
  checkOrder(jobs, known, conditions, report);
}

function checkOrder(jobs: unknown, needs: Needs, conditions: Map<string, unknown>, report: Report): void {
  const { sorted, cycles } = sortJobs(needs);
  for (const cycle of cycles) {
    const [job, need] = cycle as [string, string];
    const written = at(at(jobs, job), 'needs');
    const index = Array.isArray(written) ? written.indexOf(need) : 0;
    report(
      needPath(job, written, index),
      () => `jobs need each other: ${arrows(cycle)}; remove one of the needs`,
    );
  }
  if (cycles.length > 0) return;
  for (const { job, because } of contradictions(sorted, needs, (name) => conditions.get(name))) {
    report(
      ['jobs', job, 'needs'],
      `the job can never run: it waits for "${because}" to succeed and, through another job, to fail; use \`if: always\``,
    );
  }
}

function needPath(job: string, needs: unknown, index: number): KeyPath {
  return typeof needs === 'string' ? ['jobs', job, 'needs'] : ['jobs', job, 'needs', index];
}

/** `a -> b -> a`; shortens a long cycle in the middle. */
function arrows(cycle: string[]): string {
  const shown =
    cycle.length <= 12 ? cycle : [...cycle.slice(0, 6), `(${cycle.length - 10} more)`, ...cycle.slice(-4)];
  return shown.join(' -> ');
}

function checkForEach(file: unknown, input: unknown, path: KeyPath, report: Report): void {
  if (typeof input !== 'string') return;
  const inputs = at(at(file, 'inputs'), 'properties');
  const schema = at(inputs, input);
  if (schema === undefined) {
    const known = entriesOf(inputs).map(([name]) => name);
    const near = () => didYouMean(input, known) || '; add it to inputs.properties, with `type: array`';
    report(path, () => `there is no input "${input}"${near()}`);
  } else if (at(schema, 'type') !== 'array') {
    report(path, `expected an input that is a list; "${input}" lacks \`type: array\``);
  }
}

function checkTwice(list: unknown, path: KeyPath, report: Report): void {
  const seen = new Set<string>();
  for (const [index, one] of textsOf(list)) {
    if (seen.has(one)) report([...path, index], `"${one}" is already listed; list it once`);
    seen.add(one);
  }
}

function checkArtifact(pattern: string, path: KeyPath, report: Report): void {
  const plain = pattern.replaceAll('\\', '');
  const parts = plain.split(/[/{}(),|]/);
  const isOutside = /^!?(\/|~|[A-Za-z]:)/.test(plain) || parts.includes('..');
  if (isOutside) report(path, `expected a path or pattern within the workspace; got "${pattern}"`);
  else if (plain.includes('$')) report(path, `variables aren't expanded here; got "${pattern}"`);
}

/** Job name -> the jobs that it needs, all known. */
type Needs = ReadonlyMap<string, readonly string[]>;

interface Order {
  /** Each job after the ones that it needs. */
  sorted: string[];
  /** Each begins and ends with the same job. The first job's first need closes the cycle. */
  cycles: string[][];
}

/** Sorts without recursion, since chains may be long. */
function sortJobs(needs: Needs): Order {
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

/** Jobs that wait for both the success and the failure of the same job, `because`. @param sorted each job after the ones that it needs */
function contradictions(
  sorted: readonly string[],
  needs: Needs,
  conditionOf: (job: string) => unknown,
): { job: string; because: string }[] {
  // Sets of jobs as bits: many jobs may need many.
  const bits = new Map(sorted.map((job, index) => [job, 1n << BigInt(index)]));
  const succeeded = new Map<string, bigint>();
  const failed = new Map<string, bigint>();
  const found = new Map<string, { job: string; because: string }>();
  for (const job of sorted) {
    let [mustSucceed, mustFail] = [0n, 0n];
    const needed = needs.get(job) ?? [];
    const condition = conditionOf(job);
    if (condition === 'failure' && needed.length === 1) mustFail = bits.get(needed[0]!)!;
    if (condition === 'success') {
      for (const need of needed) {
        mustSucceed |= bits.get(need)! | succeeded.get(need)!;
        mustFail |= failed.get(need)!;
      }
      const both = mustSucceed & mustFail;
      // Fixing the job fixes its dependents, so they aren't reported.
      if (both > 0n && !needed.some((need) => found.has(need)))
        found.set(job, { job, because: sorted[both.toString(2).length - 1]! });
    }
    succeeded.set(job, mustSucceed);
    failed.set(job, mustFail);
  }
  return [...found.values()];
}
