/** Events are neither lost nor repeated when the connection breaks every second and the server is killed twice. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { eventually, freePort } from '../stack/cli-process.js';
import type { Part } from '../support/test-stack.js';
import { allEvents, openEvents, loggedLines, stateEvents, type ReadEvent } from './sse.js';
import { JobsClient } from '../support/jobs.js';
import { OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';

jest.setTimeout(OUTAGE_MS);

/** How long a connection lasts, in milliseconds. */
const CUT_MS = 1_000;

/** Two parallel jobs that write until they are stopped, a question, and a step with a large log. */
const PIPELINE = `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  one:
    steps:
      - name: Count
        run: |
          n=0
          while [ ! -e "$INPUT_LEDGER.go" ]; do n=$((n + 1)); echo "one $n"; sleep 0.1; done
      - { name: Then, run: 'for i in $(seq 20); do echo "then $i"; sleep 0.1; done' }
  two:
    steps:
      - name: Count
        run: |
          n=0
          while [ ! -e "$INPUT_LEDGER.go" ]; do n=$((n + 1)); echo "two $n"; sleep 0.15; done
  end:
    needs: [one, two]
    steps:
      - { name: Ask, approval: { message: The end? } }
      - { name: Much, run: 'seq -f "line %.0f" 3000' }
`;

let project: PipelineProject;
let server: Part;
let base: string;

beforeAll(async () => {
  project = await PipelineProject.shared({ streamed: PIPELINE });
  server = project.parts.parts[0]!;
  base = project.parts.base;
}, PROCESSES_MS);
afterAll(() => project?.stop());

/** Kills the server with SIGKILL and starts another one at another port. */
async function killAndReplace(): Promise<void> {
  await server.end('SIGKILL');
  const port = await freePort();
  server = project.parts.server({ LONGHAUL_PORT: String(port) });
  base = `http://127.0.0.1:${port}`;
}

/** Reads to the end, over as many connections as necessary. */
class Reader {
  readonly events: ReadEvent[] = [];
  connections = 0;
  readonly done: Promise<void>;

  constructor(private readonly jobId: string) {
    this.done = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.events.some(({ event }) => event === 'result')) {
      const lastId = this.events.findLast(({ id }) => id !== undefined)?.id;
      const stream = await openEvents(base, this.jobId, lastId).catch(() => undefined);
      if (!stream || stream.response.status !== 200) {
        // The server is still starting.
        if (stream) expect(stream.response.status).toBe(503);
        await delay(100);
        continue;
      }
      this.connections += 1;
      const cut = setTimeout(() => stream.close(), CUT_MS);
      await stream.ended;
      clearTimeout(cut);
      this.events.push(...stream.events);
    }
  }

  count(step: string): number {
    return loggedLines(this.events)[step]?.length ?? 0;
  }
}

test('every event comes once, in order', async () => {
  const ledger = join(project.ledgers, 'streamed');
  const jobId = await new JobsClient(base).start('streamed', { ledger });
  const reader = new Reader(jobId);
  await eventually('lines have come', () => reader.count('one/1') > 10 && reader.count('two/1') > 10);

  const before = reader.count('one/1');
  await killAndReplace();
  await eventually('lines come again', () => reader.count('one/1') > before + 10);
  writeFileSync(`${ledger}.go`, '');
  expect(existsSync(`${ledger}.go`)).toBe(true);
  const asked = await eventually('it asks', () =>
    reader.events.find(({ event }) => event === 'input_required'),
  );

  await killAndReplace();
  await eventually('the answer is taken', () =>
    new JobsClient(base)
      .post(`/v1/jobs/${jobId}/input`, { key: asked.data.key, value: { approve: true } })
      .then(
        ({ status }) => status < 300,
        () => false,
      ),
  );
  await reader.done;

  expect(reader.connections).toBeGreaterThan(5);
  const { events } = reader;
  expect(events.filter(({ event }) => event === 'result')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ event: 'result', data: { status: 'succeeded' } });
  const whole = await allEvents(base, jobId);
  expect(stateEvents(events)).toEqual(stateEvents(whole));
  const logged = loggedLines(events);
  expect(logged).toEqual(loggedLines(whole));
  for (const [step, text] of [
    ['one/1', 'one'],
    ['one/2', 'then'],
    ['two/1', 'two'],
    ['end/2', 'line'],
  ] as const) {
    const expected = logged[step]!.map((_line, index) => ({
      number: index + 1,
      text: `${text} ${index + 1}`,
    }));
    expect(logged[step]).toEqual(expected);
  }
  expect(logged['one/2']).toHaveLength(20);
  expect(logged['end/2']).toHaveLength(3000);
});
