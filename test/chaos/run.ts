/**
 * Runs chaos and prints its report. Exits with 1 on any violation.
 *
 *     npm run chaos -- --operations 500 --kills 200 --seed 7
 *     npm run chaos -- --target fastmcp --faults kill,network --json build/fastmcp.json
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chaos } from './chaos.js';
import { FAULT_KINDS, type FaultKind } from './schedule.js';
import { chaosTable } from './table.js';
import type { Target } from './target.js';

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: 'longhaul' },
    operations: { type: 'string', default: '500' },
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000) + 1) },
    faults: { type: 'string', default: FAULT_KINDS.join() },
    json: { type: 'string' },
  },
});

function wrong(message: string): never {
  console.error(message);
  process.exit(2);
}

function count(name: 'operations' | 'kills' | 'seed'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 1) return number;
  return wrong(`--${name}: expected a whole number above 0; got ${values[name]}`);
}

/** A name is that of a module in `targets/`, everything else a path. */
async function targetOf(name: string): Promise<Target> {
  const path = /^[a-z]+$/.test(name) ? `./targets/${name}.ts` : pathToFileURL(resolve(name)).href;
  return ((await import(path)) as { default: Target }).default;
}

const kinds = values.faults.split(',');
const unknown = kinds.filter((kind) => !(FAULT_KINDS as readonly string[]).includes(kind));
if (unknown.length > 0) wrong(`--faults: expected ${FAULT_KINDS.join(', ')}; got ${unknown.join(', ')}`);

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interrupted.abort(new Error(signal)));

const seed = count('seed');
console.log(`seed ${seed}`);
const report = await chaos({
  target: await targetOf(values.target),
  operations: count('operations'),
  kills: count('kills'),
  seed,
  faults: kinds as FaultKind[],
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
  signal: interrupted.signal,
});
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
console.log(`\n${chaosTable([report])}\n`);
for (const { check, text } of report.violations) console.log(`- ${check}: ${text}`);
// Calls that no signal ends may still be open.
process.exit(report.violations.length > 0 ? 1 : 0);
