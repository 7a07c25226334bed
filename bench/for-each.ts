/**
 * A pipeline's `for-each` over many items, each one bash step: events of the largest history, and memory of the worker while the
 * items run. Prints the rate, too, beside that of a job with few items.
 *
 *     node --import jiti/register bench/for-each.ts [--items 20000] [--short]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { cpuMs, peakMb, report, residentMb, shortened, withStack, type Stack } from './support.js';

const { values: given } = parseArgs({
  options: { items: { type: 'string', default: '20000' }, short: { type: 'boolean' } },
});
const ITEMS = shortened(Number(given.items));
/** Items of the job that fits into one history. */
const FEW = shortened(400);
const LIMIT_MS = 2 * 3600_000;
const CONCURRENCY = 8;

const PIPELINE = `
concurrency: ${CONCURRENCY}
inputs: { properties: { items: { type: array } }, required: [items] }
outputs: { doubled: { value: double.doubled, type: integer } }
jobs:
  double:
    for-each: items
    outputs: [doubled]
    steps: [{ run: 'echo "doubled=$((2 * LONGHAUL_ITEM))" >> "$LONGHAUL_OUTPUT"' }]
`;

interface Run {
  items: number;
  seconds: number;
  workerCpuMs: number;
  workerMb: number;
  workerPeakMb: number;
  /** Events of the pipeline's history, and of its largest page. */
  events: number;
  pageEvents: number;
  pages: number;
}

async function run({ client, home }: Stack, temporal: Client, count: number): Promise<Run> {
  const { worker } = home.parts();
  const items = Array.from({ length: count }, (_, item) => item);
  const cpuBefore = cpuMs(worker);
  const begin = performance.now();
  const token = await client.start('double', { items });
  const { result } = (await client.until(token, 'completed', LIMIT_MS)) as {
    result: { structuredContent: { doubled: number[] } };
  };
  const seconds = (performance.now() - begin) / 1000;
  const { doubled } = result.structuredContent;
  if (doubled.length !== count || doubled.some((value, item) => value !== 2 * item))
    throw new Error(`expected ${count} doubled items; got ${JSON.stringify(doubled).slice(0, 200)}`);
  const { historyLength } = await temporal.workflow.getHandle(token).describe();
  const pages: number[] = [];
  for await (const { historyLength: events } of temporal.workflow.list({
    query: `WorkflowType = 'pipeline_page' AND WorkflowId STARTS_WITH '${token}/'`,
  }))
    pages.push(events);
  return {
    items: count,
    seconds,
    workerCpuMs: (cpuMs(worker) - cpuBefore) / count,
    workerMb: residentMb(worker),
    workerPeakMb: peakMb(worker),
    events: historyLength,
    pageEvents: Math.max(0, ...pages),
    pages: pages.length,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
writeFileSync(join(folder, 'double.yml'), PIPELINE);
try {
  await withStack(
    async (stack) => {
      const connection = await Connection.connect({ address: stack.temporalAddress });
      const temporal = new Client({ connection });
      await run(stack, temporal, shortened(50));
      const runs = [await run(stack, temporal, FEW), await run(stack, temporal, ITEMS)];
      await connection.close();
      report(
        `for-each-${ITEMS}`,
        [
          'items',
          'items/s',
          'worker CPU an item',
          'worker, at the end',
          'worker, peak',
          'pages',
          'events',
          'events of the largest page',
        ],
        runs.map((one) => [
          one.items.toLocaleString('en'),
          (one.items / one.seconds).toFixed(1),
          `${one.workerCpuMs.toFixed(1)} ms`,
          `${Math.round(one.workerMb)} MB`,
          `${Math.round(one.workerPeakMb)} MB`,
          String(one.pages),
          one.events.toLocaleString('en'),
          one.pageEvents.toLocaleString('en'),
        ]),
        { runs },
      );
    },
    { LONGHAUL_PIPELINE_FOLDERS: folder, LONGHAUL_MAX_STEPS: String(CONCURRENCY) },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
