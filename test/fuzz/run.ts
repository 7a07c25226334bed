/**
 * Sends mutated requests over every protocol and prints a report. Exits with 1 if any answer was one that its protocol doesn't
 * allow, or if the run has left something behind.
 *
 *     npm run fuzz -- --cases 10000 --seed 7 --protocol jobs
 */
import { parseArgs } from 'node:util';
import { printTable } from '../../bench/support.js';
import { PROTOCOLS } from './corpus/index.js';
import { fuzzStack } from './run-all.js';
import { STDIO } from './stdio.js';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000) + 1) },
    from: { type: 'string', default: '0' },
    protocol: { type: 'string', multiple: true },
  },
});
const usage = (message: string): never => {
  console.error(message);
  process.exit(2);
};
const [cases, seed, from] = (['cases', 'seed', 'from'] as const).map((name) =>
  /^\d{1,9}$/.test(values[name])
    ? Number(values[name])
    : usage(`--${name}: expected a whole number; got ${values[name]}`),
) as [number, number, number];
const names = [...PROTOCOLS.map(({ name }) => name), STDIO];
for (const name of values.protocol ?? [])
  if (!names.includes(name)) usage(`--protocol: expected one of ${names.join(', ')}; got ${name}`);

console.log(`seed ${seed}`);
const { reports, operations, memory, violations } = await fuzzStack({
  seed,
  cases,
  from,
  ...(values.protocol ? { protocols: values.protocol } : {}),
  withSlowBodies: cases >= 10_000,
  sayFailure: (failure) => console.log(failure),
  say: ({ protocol, tookMs }) => console.log(`${protocol}: ${Math.round(tookMs / 1000)} s`),
});
const counts = (of: Map<string, number>) =>
  [...of]
    .toSorted(([, first], [, second]) => second - first)
    .map(([key, count]) => `${key}: ${count}`)
    .join(', ');
console.log();
printTable(
  ['protocol', 'cases', 'seconds', 'responses by status', 'JSON-RPC errors by code'],
  reports.map(({ protocol, cases: done, tookMs, statuses, errorCodes }) => [
    protocol,
    String(done),
    (tookMs / 1000).toFixed(0),
    counts(statuses),
    counts(errorCodes),
  ]),
);
const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
const { warm, end } = memory;
console.log(
  `\noperations started: ${operations.started}; accepted: ${operations.accepted}, unanswered starts: ${operations.unknown}`,
);
console.log(
  `server's resident memory: ${mib(warm.rss)} MiB after the warm-up, ${mib(end.rss)} MiB after the run`,
);
console.log(`in use after a collection: ${mib(warm.used)} MiB, ${mib(end.used)} MiB`);
console.log(`\n${violations.length} violations`);
for (const violation of violations) console.log(`- ${violation}`);
process.exitCode = violations.length ? 1 : 0;
