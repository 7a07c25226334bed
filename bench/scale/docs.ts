/**
 * Writes the tables of docs/scale.md from bench/results: costs, the model's check and its outputs.
 *
 *     node --import jiti/register bench/scale/docs.ts
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { markdownTable as table } from '../support.js';
import {
  ASSUMED,
  comparePrediction,
  costsOf,
  FORMULAS,
  PART_NAMES,
  sizeOf,
  type Load,
  type Sizing,
} from './model.js';
import { PARTS, type ScaleRun } from './phases.js';

const PAGE = 'docs/scale.md';
const CALIBRATION = 'bench/results/scale-500.json';
const RESULTS = 'bench/results';

type Result = ScaleRun & { measuredAt: string; machine: { cores: number; cpu: string; node: string } };

/** Waits for a person for a working day; clients poll at the longest interval that Longhaul recommends. */
const WAITS = { lifetimeSeconds: 8 * 3600, pollSeconds: 30, watchedShare: 0, activeShare: 0 };
/** One activity for an hour, followed by subscriptions. */
const WORKS = { lifetimeSeconds: 3600, pollSeconds: 30, watchedShare: 1, activeShare: 1 };
const LOADS: [name: string, load: Load][] = [10_000, 1_000_000].flatMap((open) => [
  [`${open.toLocaleString('en')} wait for people`, { open, ...WAITS, retentionDays: 3 }],
  [`${open.toLocaleString('en')} run an activity`, { open, ...WORKS, retentionDays: 3 }],
]);

function read(path: string): Result | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Result) : undefined;
}

function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value === 0 ? '0' : value.toPrecision(2);
}

function measuredOn({ measuredAt, machine }: Result): string {
  return `Measured ${measuredAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpu}), Node.js ${machine.node}.`;
}

const calibration = read(CALIBRATION);
if (!calibration) throw new Error(`${CALIBRATION} is missing: npm run bench -- scale --operations 500`);
const costs = costsOf(calibration);
const largest = Math.max(
  ...readdirSync(RESULTS).map((name) => Number(/^scale-(\d+)\.json$/.exec(name)?.[1] ?? 0)),
);
const large = largest > 500 ? read(`${RESULTS}/scale-${largest}.json`) : undefined;

const sections: Record<string, string> = {
  costs: [
    measuredOn(calibration),
    table(
      ['', ...PARTS.map((part) => `${PART_NAMES[part]}, ms of CPU`)],
      (['start', 'read', 'answer'] as const)
        .map((name) => [
          {
            start: 'start, until the question is open',
            read: 'read (`tasks/get`)',
            answer: 'answer, until it is closed',
          }[name],
          ...PARTS.map((part) => costs.cpuMs[name][part].toFixed(1)),
        ])
        .concat(
          [
            ['a second of a watched operation', costs.watchedCpuMs],
            ['a second of an operation with a running activity', costs.activeCpuMs],
          ].map(([name, cost]) => [
            name as string,
            ...PARTS.map((part) => (cost as typeof costs.idleMb)[part].toFixed(2)),
          ]),
        ),
    ),
    table(
      ['per operation', ''],
      [
        ...PARTS.map((part) => [
          `memory: ${PART_NAMES[part]}, open`,
          `${(costs.openMb[part] * 1024).toFixed(0)} KB`,
        ]),
        ['database, open', `${costs.openKb.toFixed(1)} KB`],
        ['database, closed', `${costs.closedKb.toFixed(1)} KB`],
        ['workflow tasks, state transitions', `${costs.workflowTasks}, ${costs.transitions}`],
        ['billed actions, without heartbeats', String(costs.actions)],
      ],
    ),
  ].join('\n\n'),
  check: large
    ? [
        measuredOn(large),
        table(['', 'predicted', 'measured', 'ratio'], comparePrediction(costs, large)),
      ].join('\n\n')
    : 'Not measured yet: `npm run bench -- scale`, then `node --import jiti/register bench/scale/docs.ts`.',
  outputs: table(
    ['', 'formula', ...LOADS.map(([name]) => name)],
    (Object.keys(FORMULAS) as (keyof Sizing)[]).map((key) => [
      ...FORMULAS[key],
      ...LOADS.map(([, load]) => figure(sizeOf(costs, load)[key])),
    ]),
  ),
  assumptions: table(
    ['', ''],
    [
      ['share of a core that is planned for', String(ASSUMED.utilization)],
      [
        'heartbeats of a running activity',
        `every ${ASSUMED.heartbeatSeconds} s (\`--heartbeat-seconds\` on a named Temporal)`,
      ],
      ['reads of a watched operation, for its progress', `every ${ASSUMED.watchSeconds} s`],
      [
        'a transaction of a shard',
        `${ASSUMED.transactionMs} ms, one at a time; a shard is busy ${ASSUMED.shardUtilization * 100} % of the time`,
      ],
      ['executions of a shard', ASSUMED.operationsPerShard.toLocaleString('en')],
      ['`frontend.namespaceRPS`, of each frontend', String(ASSUMED.frontendRps)],
      [
        '`frontend.namespaceCount`: long polls of one kind, of each frontend',
        String(ASSUMED.frontendLongPolls),
      ],
      ['one poll for a task under load', `${ASSUMED.pollMs} ms`],
      ["a worker's memory for cached workflows", `${ASSUMED.workerCacheMb} MB`],
      ["a worker's activities at a time", String(ASSUMED.activitySlots)],
      [
        "Temporal Cloud, a namespace's default limits",
        `${ASSUMED.cloudActionsPerSecond} actions and ${ASSUMED.cloudRps} requests a second`,
      ],
    ],
  ),
};

let page = readFileSync(PAGE, 'utf8');
for (const [name, text] of Object.entries(sections)) {
  const section = new RegExp(`(<!-- ${name} -->)[^]*?(<!-- end of ${name} -->)`);
  if (!section.test(page)) throw new Error(`${PAGE} has no section ${name}`);
  page = page.replace(section, (_whole, begin: string, end: string) => `${begin}\n\n${text}\n\n${end}`);
}
const config = await resolveConfig(PAGE);
writeFileSync(PAGE, await format(page, { ...config, parser: 'markdown' }));
