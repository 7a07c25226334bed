/**
 * Table of chaos runs, a column for each: `node --import jiti/register test/chaos/table.ts FILE.json...`
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { markdownTable, quantile } from '../../bench/support.js';
import type { ChaosReport } from './chaos.js';
import { CHECKS, type Check } from './violations.js';

/** Rows of one report by their names. */
type Column = Map<string, string>;

export function chaosTable(reports: ChaosReport[]): string {
  const columns = reports.map(columnOf);
  const faults = [...new Set(reports.flatMap((report) => Object.keys(report.faults)))].toSorted();
  const rows = [
    ...['operations', 'faults', 'polls', 'starts sent again', 'minutes'],
    ...faults,
    ...(reports.some(({ gapsMs }) => gapsMs.length > 0) ? ['next step begins after'] : []),
    ...Object.values(CHECKS).filter((text) => columns.some((column) => column.has(text))),
    'violations',
  ];
  return markdownTable(
    ['', ...reports.map(({ target, seed }) => `${target}, seed ${seed}`)],
    rows.map((row) => [row, ...columns.map((column) => column.get(row) ?? '-')]),
  );
}

function columnOf(report: ChaosReport): Column {
  const { operations, polls, repeatedStarts, seconds, faults, gapsMs, violations } = report;
  const times = Object.values(faults).reduce((sum, one) => sum + one.times, 0);
  const found = new Map<Check, number>();
  for (const { check } of violations) found.set(check, (found.get(check) ?? 0) + 1);
  return new Map([
    ['operations', String(operations)],
    ['faults', String(times)],
    ['polls', String(polls)],
    ['starts sent again', String(repeatedStarts)],
    ['minutes', (seconds / 60).toFixed(1)],
    ...Object.entries(faults).map(([name, figures]): [string, string] => [
      name,
      `${figures.times} times, ${timesToService(figures.backMs)}`,
    ]),
    ['next step begins after', timesToService(gapsMs)],
    ...[...found].map(([check, count]): [string, string] => [CHECKS[check], String(count)]),
    ['violations', String(violations.length)],
  ]);
}

function timesToService(tookMs: number[]): string {
  if (tookMs.length === 0) return '-';
  const at = (share: number) => `${(quantile(tookMs, share) / 1000).toFixed(2)} s`;
  return `p50 ${at(0.5)}, p99 ${at(0.99)}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')) as ChaosReport);
  console.log(chaosTable(reports));
}
