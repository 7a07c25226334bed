/**
 * Cost of traces: CPU time of server and worker a request, memory, and the server's CPU time until it serves, without and with a
 * collector. `--program PATH` adds another build of the command line, without traces.
 *
 *     node --import jiti/register bench/traces.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import { WireClient } from '../test/support/mcp.js';
import { TestHome } from '../test/stack/cli-process.js';
import { Collector } from '../test/traces/collector.js';
import { cpuMs, measure, report, residentMb, shortened, timeRuns } from './support.js';

const READS = shortened(3_000);
const CALLS = shortened(300);
const AT_ONCE = 8;

interface Figures {
  startCpuMs: number;
  startMb: number;
  readCpuMs: number;
  callCpuMs: number;
  workerCpuMs: number;
  serverMb: number;
}

async function measureStack(environment: Record<string, string>, program?: string): Promise<Figures> {
  const home = await TestHome.create(program === undefined ? {} : { program });
  try {
    await home.up({
      LONGHAUL_PROJECT: resolve('bench/project'),
      LONGHAUL_LOG_LEVEL: 'warn',
      ...environment,
    });
    const { server, worker } = home.parts();
    const client = new WireClient(`${home.url}/mcp`);
    const startCpuMs = cpuMs(server);
    const startMb = residentMb(server);
    const token = await client.start('noop_activity', {});
    await client.until(token, 'completed');
    const read = () => client.request('tasks/get', { taskId: token });
    // The first ones compile code.
    await timeRuns(READS / 10, AT_ONCE, read);
    const { cpuMs: readCpuMs } = await measure(READS, AT_ONCE, server, read);
    const workerBefore = cpuMs(worker);
    const tokens: string[] = [];
    const { cpuMs: callCpuMs } = await measure(CALLS, AT_ONCE, server, async () => {
      tokens.push(await client.start('noop_activity', {}));
    });
    for (const one of tokens) await client.until(one, 'completed');
    // The last spans are sent.
    await sleep(6_000);
    const workerCpuMs = (cpuMs(worker) - workerBefore) / CALLS;
    return { startCpuMs, startMb, readCpuMs, callCpuMs, workerCpuMs, serverMb: residentMb(server) };
  } finally {
    await home.remove();
  }
}

const at = process.argv.indexOf('--program');
const collector = await Collector.start();
const sides: Record<string, Figures> = {};
if (at >= 0) sides['other build'] = await measureStack({}, process.argv[at + 1]);
sides['off'] = await measureStack({});
sides['on'] = await measureStack({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
sides['on, not sampled'] = await measureStack({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_TRACES_SAMPLER: 'always_off',
});
const spans = collector.spans.length;
await collector.stop();

const rows: [string, keyof Figures, string][] = [
  ["server's CPU until it serves", 'startCpuMs', 'ms'],
  ["server's memory then", 'startMb', 'MB'],
  ["server's CPU a tasks/get", 'readCpuMs', 'ms'],
  ["server's CPU a tools/call", 'callCpuMs', 'ms'],
  ["worker's CPU an operation", 'workerCpuMs', 'ms'],
  ["server's memory at the end", 'serverMb', 'MB'],
];
report(
  'traces',
  ['', ...Object.keys(sides)],
  rows.map(([name, key, unit]) => [
    name,
    ...Object.values(sides).map((figures) => `${figures[key].toFixed(2)} ${unit}`),
  ]),
  { sides, spans },
);
