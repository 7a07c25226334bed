/**
 * Random pipelines of steps and approvals, answered, canceled, and resumed from anywhere with other arguments: no step behind an
 * approval ever runs without an approval for its arguments.
 *
 * LONGHAUL_MODEL_SEED and LONGHAUL_MODEL_RUNS repeat a run and lengthen it.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { PipelineProject } from '../pipelines/support.js';
import { forAllTests } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';

const { LONGHAUL_MODEL_SEED, LONGHAUL_MODEL_RUNS } = process.env;
const runs = Number(LONGHAUL_MODEL_RUNS ?? 8);
const seed = Number(LONGHAUL_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
const limitMs = INSTALL_MS * Math.max(1, runs / 100);
jest.setTimeout(limitMs);

interface Step {
  asks: boolean;
  /** Steps that only ask have none. */
  runs: boolean;
  always: boolean;
}
/** Jobs in order; each needs some of those before it, by their positions. */
type Shape = { steps: Step[]; needs: number[]; items: boolean }[];

const step = fc
  .record({ asks: fc.boolean(), runs: fc.boolean(), always: fc.integer({ max: 5, min: 0 }) })
  .map(({ asks, runs, always }): Step => ({ asks, runs: runs || !asks, always: always === 0 }));
const shape: fc.Arbitrary<Shape> = fc
  .array(
    fc.record({
      steps: fc.array(step, { minLength: 1, maxLength: 3 }),
      needs: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
      items: fc.integer({ min: 0, max: 4 }).map((drawn) => drawn === 0),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((jobs) =>
    jobs.map((job, at) => ({
      ...job,
      needs: at === 0 ? [] : [...new Set(job.needs.map((need) => need % at))],
    })),
  )
  .filter((jobs) => jobs.some(({ steps }) => steps.some(({ asks }) => asks)));

const jobName = (at: number) => `j${at}`;
const stepName = (at: number) => `s${at}`;

function textOf(jobs: Shape): string {
  const stepText = ({ asks, runs, always }: Step, at: number) => `
      - name: ${stepName(at)}${always ? '\n        if: always' : ''}${asks ? '\n        approval: { message: Continue? }' : ''}${
        runs
          ? `\n        run: echo "$(date +%s%3N) $JOB${'${LONGHAUL_ITEM:+:$LONGHAUL_ITEM}'}/${stepName(at)} $INPUT_VERSION" >> "$INPUT_LEDGER"`
          : ''
      }`;
  const jobText = ({ steps, needs, items }: Shape[number], at: number) => `
  ${jobName(at)}:
    needs: [${needs.map(jobName).join(', ')}]${items ? '\n    for-each: items' : ''}
    env: { JOB: ${jobName(at)} }
    steps:${steps.map(stepText).join('')}`;
  return `
inputs:
  properties:
    ledger: { type: string }
    version: { type: integer, default: 0 }
    items: { type: array, items: { type: string }, default: [x, y] }
  required: [ledger]
jobs:${jobs.map(jobText).join('')}
`;
}

/** Approvals that a step is behind, with its own. */
function gatesOf(jobs: Shape, job: number, at: number): string[] {
  const ofJob = (job: number, until: number): string[] =>
    jobs[job]!.steps.slice(0, until).flatMap(({ asks }, step) => (asks ? gateNames(jobs, job, step) : []));
  const before = new Set<number>();
  const add = (job: number) => {
    for (const need of jobs[job]!.needs) {
      before.add(need);
      add(need);
    }
  };
  add(job);
  const { always, asks } = jobs[job]!.steps[at]!;
  const own = asks ? gateNames(jobs, job, at) : [];
  // Runs whatever was answered before it in its job; the job itself runs after those that it needs.
  const inJob = always ? own : [...ofJob(job, at), ...own];
  return [...[...before].flatMap((need) => ofJob(need, jobs[need]!.steps.length)), ...inJob];
}

const gateNames = (jobs: Shape, job: number, step: number): string[] =>
  (jobs[job]!.items ? [`${jobName(job)}[0]`, `${jobName(job)}[1]`] : [jobName(job)]).map(
    (name) => `${name} / ${stepName(step)}`,
  );

type Action =
  | { do: 'approve' | 'decline' | 'cancel' }
  | { do: 'resume'; from: number | undefined; version: number | undefined };
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ do: 'approve' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'decline' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'cancel' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('resume' as const),
      from: fc.option(fc.nat(8), { nil: undefined }),
      version: fc.option(fc.nat(1), { nil: undefined }),
    }),
  },
);

/** Pipelines of this run. */
const shapes = fc.sample(shape, { seed, numRuns: 8 });
const project = await forAllTests(
  PipelineProject.shared(Object.fromEntries(shapes.map((jobs, at) => [`gated_${at}`, textOf(jobs)]))),
);

const ENDED = ['succeeded', 'failed', 'canceled', 'timed_out'];

class Run {
  readonly #ledger = randomUUID();
  /** Approvals with the version that they were given for -> when the first one was sent, in milliseconds. */
  readonly #approvals = new Map<string, number>();
  #version = 0;
  #id = '';

  constructor(
    private readonly client: JobsClient,
    private readonly number: number,
    private readonly counts: Record<string, number>,
  ) {}

  get #jobs(): Shape {
    return shapes[this.number]!;
  }

  async start(): Promise<void> {
    this.#id = await this.client.start(`gated_${this.number}`, {
      ledger: join(project.ledgers, this.#ledger),
    });
  }

  async perform(action: Action): Promise<void> {
    const job = await this.client.until(
      this.#id,
      ({ status, input_required }) => ENDED.includes(status) || input_required !== undefined,
    );
    const isOpen = !ENDED.includes(job.status);
    if ((action.do === 'resume') === isOpen) return;
    this.counts[action.do] = (this.counts[action.do] ?? 0) + 1;
    if (action.do === 'resume') await this.#resume(job.status, action);
    else if (action.do === 'cancel') {
      await this.client.post(`/v1/jobs/${this.#id}:cancel`);
      await this.client.until(this.#id, ({ status }) => ENDED.includes(status));
    } else await this.#answer(job.input_required.requests, action.do === 'approve');
  }

  async #answer(requests: Record<string, { message: string }>, approve: boolean): Promise<void> {
    const [key, { message }] = Object.entries(requests)[0]!;
    const gate = `${message.split(':', 1)[0]} for ${this.#version}`;
    if (approve && !this.#approvals.has(gate)) this.#approvals.set(gate, Date.now());
    const { status, body } = await this.client.post(`/v1/jobs/${this.#id}/input`, {
      key,
      value: { approve },
    });
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    await this.client.until(this.#id, (job) => !(key in (job.input_required?.requests ?? {})));
  }

  async #resume(status: string, { from, version }: Extract<Action, { do: 'resume' }>): Promise<void> {
    const steps = this.#jobs.flatMap(({ steps, items }, job) =>
      steps.map((_step, at) => `${jobName(job)}${items ? '[0]' : ''}/${at + 1}`),
    );
    const start = from ?? (status === 'succeeded' ? 0 : undefined);
    const { status: code, body } = await this.client.post(`/v1/jobs/${this.#id}:resume`, {
      ...(start === undefined ? {} : { from: steps[start % steps.length] }),
      ...(version === undefined ? {} : { changes: { version } }),
    });
    if (code >= 300) throw new Error(`${code}: ${JSON.stringify(body)}`);
    this.#id = body.job_id;
    this.#version = version ?? this.#version;
  }

  async end(): Promise<void> {
    await this.client.post(`/v1/jobs/${this.#id}:cancel`);
    await this.client.until(this.#id, ({ status }) => ENDED.includes(status));
    for (const line of project.lines(this.#ledger)) {
      const [, atMs, job, , step, version] = /^(\d+) j(\d)(:\w+)?\/s(\d) (\d)$/.exec(line)!;
      const gates = gatesOf(this.#jobs, Number(job), Number(step)).filter((gate) => this.#isFor(gate, line));
      for (const gate of gates) {
        const approvedMs = this.#approvals.get(`${gate} for ${version}`);
        if (approvedMs === undefined || approvedMs > Number(atMs))
          throw new Error(`${line} ran, and ${gate} was not approved for ${version} before it`);
      }
      this.counts['steps behind an approval'] =
        (this.counts['steps behind an approval'] ?? 0) + (gates.length > 0 ? 1 : 0);
    }
  }

  /** An item is behind no approval of its job but its own. */
  #isFor(gate: string, line: string): boolean {
    const [, job, item] = / (j\d):(\w+)\//.exec(line) ?? [];
    if (item === undefined || !gate.startsWith(`${job}[`)) return true;
    return gate.startsWith(`${job}[${item === 'x' ? 0 : 1}]`);
  }
}

test('no step behind an approval runs without an approval for its arguments', async () => {
  const counts: Record<string, number> = {};
  const client = new JobsClient(project.parts.base);
  const property = fc.asyncProperty(
    fc.nat(shapes.length - 1),
    fc.array(action, { minLength: 6, maxLength: 20 }),
    async (number, actions) => {
      const run = new Run(client, number, counts);
      await run.start();
      for (const one of actions) await run.perform(one);
      await run.end();
    },
  );
  const details = await fc.check(property, { seed, numRuns: runs, interruptAfterTimeLimit: 0.8 * limitMs });
  console.log(`seed ${seed}: ${details.numRuns} sequences, ${JSON.stringify(counts)}`);
  const failure = details.failed
    ? [fc.defaultReportMessage(details), details.errorInstance, ...shapes.map(textOf)]
    : [];
  expect(failure.map(String)).toEqual([]);
  expect(details.numRuns).toBe(runs);
  expect(counts['steps behind an approval']).toBeGreaterThan(0);
});
