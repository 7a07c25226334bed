/**
 * Runs chaos and prints its report. Exits with 1 if anything was lost, doubled or decreased.
 *
 *     npm run chaos -- --operations 200 --kills 60 --seed 7
 */
import { parseArgs } from 'node:util';
import { printTable, quantile } from '../../bench/support.js';
import { chaos } from './chaos.js';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '200' },
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000) + 1) },
  },
});
const counts = {
  operations: Number(values.operations),
  kills: Number(values.kills),
  seed: Number(values.seed),
};
for (const [name, count] of Object.entries(counts))
  if (!Number.isInteger(count) || count < 1) {
    console.error(`--${name}: expected a whole number above 0; got ${values[name as keyof typeof values]}`);
    process.exit(2);
  }

console.log(`seed ${counts.seed}`);
const { violations, operations, polls, backMs, gapsMs } = await chaos({ ...counts, say: console.log });
const at = (tookMs: number[], share: number) =>
  tookMs.length ? `${(quantile(tookMs, share) / 1000).toFixed(2)} s` : '-';
const row = (name: string, tookMs: number[]) => [
  name,
  String(tookMs.length),
  at(tookMs, 0.5),
  at(tookMs, 0.99),
  at(tookMs, 1),
];
console.log();
printTable(
  [`${operations} operations, ${polls} polls`, 'times', 'p50', 'p99', 'longest'],
  [
    ...Object.entries(backMs).map(([victim, tookMs]) => row(`${victim} back after kill -9`, tookMs)),
    row('next step begins after', gapsMs.steps),
    row('next activity begins after', gapsMs.activities),
  ],
);
console.log(`\n${violations.length} violations`);
for (const violation of violations) console.log(`- ${violation}`);
process.exitCode = violations.length ? 1 : 0;
