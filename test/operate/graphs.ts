/**
 * Draws the graphs of docs/operate.md: panels of the shipped dashboard, with the data of a live Prometheus that scrapes the cluster
 * under load while parts of it are killed and a version is rolled out.
 *
 *     npm run build && node --import jiti/register test/operate/graphs.ts
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { Fleet } from '../chaos/fleet.js';
import { killProcessesOf } from '../chaos/leftovers.js';
import { scheduleOf } from '../chaos/schedule.js';
import { Violations } from '../chaos/violations.js';
import { panelsOf, type Dashboard, type Panel } from '../metrics/dashboard.js';
import type { Prometheus, Series } from '../metrics/prometheus.js';
import { protocolClients } from '../support/protocols/index.js';
import { Cluster, cluster as target, PROJECT } from './cluster/index.js';
import { killPart, rollOut } from './faults.js';

const DASHBOARD = 'deploy/grafana/longhaul.json';
const IMAGES = 'docs/images';
const OPERATIONS = 90;
const SEED = 8;
/** Between two starts, in milliseconds. */
const START_MS = 2_000;
/** Events, each after a share of the operations has started. */
const EVENTS: { share: number; name: string; run: (cluster: Cluster, root: string) => Promise<void> }[] = [
  { share: 0.3, name: 'kill server-1', run: (cluster) => killPart(cluster, 'server-1') },
  { share: 0.5, name: 'kill worker-1', run: (cluster) => killPart(cluster, 'worker-1') },
  { share: 0.7, name: 'roll out', run: (cluster, root) => rollOut(cluster, join(root, 'project-2')) },
];
/** Panels that are drawn: name of the picture -> title on the dashboard. */
const PICTURES: Record<string, string> = {
  'operate-open': 'Open operations',
  'operate-closed': 'Closed',
  'operate-backlog': 'Backlog',
  'operate-builds': 'Open operations by build',
  'operate-requests': 'Requests',
  'operate-latency': 'Latency, 95th percentile',
};
/** Window of rates, and distance between two points, in seconds. */
const RATE_SECONDS = 30;
const STEP_SECONDS = 5;

const root = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-graphs-')));
try {
  const cluster = await Cluster.start(root, PROJECT);
  const { prometheus } = cluster;
  const from = Date.now();
  const events = await load(cluster);
  await draw(prometheus, { from, to: Date.now() }, events);
  await cluster.stop();
} finally {
  killProcessesOf(root);
  rmSync(root, { recursive: true, force: true });
}
process.exit(0);

interface Event {
  time: number;
  name: string;
}

async function load(cluster: Cluster): Promise<Event[]> {
  const violations = new Violations(console.log);
  const { signal } = new AbortController();
  const { operations } = scheduleOf(target, { operations: OPERATIONS, kills: 1, seed: SEED, faults: [] });
  const context = {
    ...{ target, violations, signal, ledger: join(root, 'ledger') },
    protocols: protocolClients(cluster.base),
    deadline: () => Infinity,
  };
  const fleet = new Fleet(context, operations);
  const left = [...EVENTS];
  const events: Event[] = [];
  for (let started = 1; started <= OPERATIONS; started += 1) {
    fleet.startUpTo(started / OPERATIONS);
    if (left[0] && started / OPERATIONS >= left[0].share) {
      const { name, run } = left.shift()!;
      events.push({ time: Date.now(), name });
      console.log(name);
      await run(cluster, root);
    }
    await delay(START_MS);
  }
  await fleet.settle();
  await fleet.end();
  if (violations.all.length > 0) throw new Error(JSON.stringify(violations.all));
  return events;
}

async function draw(
  prometheus: Prometheus,
  range: { from: number; to: number },
  events: Event[],
): Promise<void> {
  const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard;
  for (const [name, title] of Object.entries(PICTURES)) {
    const panel = panelsOf(dashboard).find((one) => one.title === title);
    if (!panel) throw new Error(`${DASHBOARD}: expected a panel ${title}`);
    const values = (
      await Promise.all(
        panel.targets!.map(async ({ expr, legendFormat = '' }) => {
          const query = expr.replaceAll('$__rate_interval', `${RATE_SECONDS}s`);
          const series = await prometheus.range(query, range, STEP_SECONDS);
          return series.flatMap((one) => pointsOf(one, legendFormat));
        }),
      )
    ).flat();
    if (values.length === 0) throw new Error(`${title}: Prometheus has no data`);
    const path = join(IMAGES, `${name}.svg`);
    writeFileSync(path, await svgOf(graph(panel, values, events)));
    console.log(path);
  }
}

interface Point {
  time: number;
  value: number;
  series: string;
}

function pointsOf({ metric, values }: Series, legend: string): Point[] {
  const series = legend.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '').trim();
  return values.map(([seconds, value]) => ({ time: seconds * 1_000, value, series: series || 'all' }));
}

function graph({ title, description }: Panel, values: Point[], events: Event[]): TopLevelSpec {
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: { text: title, subtitle: description ?? '', anchor: 'start' },
    width: 720,
    height: 200,
    background: 'white',
    layer: [
      {
        data: { values },
        mark: { type: 'line', interpolate: 'step-after' },
        encoding: {
          x: { field: 'time', type: 'temporal', axis: { title: null, format: '%H:%M:%S' } },
          y: { field: 'value', type: 'quantitative', axis: { title: null } },
          color: {
            field: 'series',
            type: 'nominal',
            legend: { title: null, orient: 'bottom', columns: 3, labelLimit: 320 },
          },
        },
      },
      {
        data: { values: events },
        mark: { type: 'rule', strokeDash: [4, 3], color: '#888' },
        encoding: { x: { field: 'time', type: 'temporal' } },
      },
      {
        data: { values: events },
        mark: { type: 'text', align: 'left', dx: 4, dy: 8, color: '#555', baseline: 'top' },
        encoding: {
          x: { field: 'time', type: 'temporal' },
          y: { value: 0 },
          text: { field: 'name', type: 'nominal' },
        },
      },
    ],
  };
}

async function svgOf(spec: TopLevelSpec): Promise<string> {
  const view = new vega.View(vega.parse(compile(spec).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return `${svg}\n`;
}
