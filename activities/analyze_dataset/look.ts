/** Counts the kinds of values in columns that DuckDB delivers as text or JSON. */
import { quotedIdentifier } from '@duckdb/node-api';
import type { ColumnReading } from './column-reading.js';
import { countOf } from './guesses.js';
import type { TextFacts } from './guesses.js';
import { allKindsOf, COMMAS, Kind, NUMBERS, oddKindsOf, SPACE, TIMES } from './kinds.js';
import type { Classified } from './kinds.js';
import type { Run } from './session.js';

/** How a column's values are delivered; `from` is missing if the type is certain. */
export interface DeliveredColumn {
  column: ColumnReading;
  from?: TextFacts['from'] | 'json_mixture';
}

/** Values of a JSON column by their JSON types. */
export interface Mixture {
  nested: number;
  scalar: number;
}

export interface Look {
  rowCount: number;
  texts: Map<string, TextFacts>;
  mixtures: Map<string, Mixture>;
}

/** Size of the sample whose kinds are expected of the remaining rows. A smaller file is read only once. */
export const SAMPLE_ROWS = 20_480;
const MAX_SHOWN_CHARACTERS = 40;

const CLASSIFIED: Record<TextFacts['from'], Classified> = {
  csv: 'all',
  json_number: 'numbers',
  json_string: 'times',
};
/** Kinds that are worth an example. */
const DEVIATING = ~(
  Kind.Integer |
  Kind.Decimal |
  Kind.Boolean |
  Kind.Missing |
  Kind.Empty |
  Kind.Spaced |
  Kind.Nan |
  Kind.Infinity
);
const shortened = (text: string) => text.trim().slice(0, MAX_SHOWN_CHARACTERS);

/** All kinds of the first rows. One expression serves all columns: planning it takes longer than running it. */
export async function lookAtSample(
  run: Run,
  source: string,
  columns: readonly DeliveredColumn[],
): Promise<Look> {
  await run(`CREATE OR REPLACE TEMP TABLE sample AS SELECT * FROM ${source} LIMIT ${SAMPLE_ROWS}`);
  const mixed = columns.filter(({ from }) => from === 'json_mixture').map(({ column }) => column.name);
  const [row] = (
    await run(`SELECT ${['count(*)', ...mixed.flatMap(mixtureMeasures)].join(', ')} FROM sample`)
  ).getRows();
  const look: Look = { rowCount: Number(row![0]), texts: new Map(), mixtures: new Map() };
  for (const [index, name] of mixed.entries()) look.mixtures.set(name, mixtureFrom(row!, 1 + 2 * index));
  for (const from of ['csv', 'json_number', 'json_string'] as const) {
    const names = columns.filter((one) => one.from === from).map(({ column }) => column.name);
    if (names.length === 0) continue;
    const texts = names.map(quotedIdentifier).join(', ');
    const reader = await run(
      `SELECT slot, kinds, count(*), min(left(trimmed, ${MAX_SHOWN_CHARACTERS})) FROM (
         SELECT slot, trimmed, ${allKindsOf('value', 'trimmed', CLASSIFIED[from])} AS kinds FROM (
           SELECT slot, value, trim(value, ${SPACE}) AS trimmed FROM (
             SELECT unnest(range(${names.length})) AS slot, unnest([${texts}]) AS value FROM sample)
           WHERE value IS NOT NULL))
       GROUP BY slot, kinds ORDER BY slot, kinds`,
    );
    const rows = reader.getRows();
    for (const [at, name] of names.entries()) {
      const found = rows
        .filter((one) => Number(one[0]) === at)
        .map((one) => [Number(one[1]), Number(one[2]), String(one[3])] as const);
      const example = found.findLast(([kinds]) => kinds & DEVIATING)?.[2];
      const missingWord = found.find(([kinds]) => kinds & Kind.Missing)?.[2];
      look.texts.set(name, {
        name,
        from,
        present: found.reduce((sum, [, count]) => sum + count, 0),
        plain: 0,
        counts: new Map(found.map(([kinds, count]) => [kinds, count])),
        ...(example !== undefined && { example }),
        ...(missingWord !== undefined && { missingWord }),
      });
    }
  }
  await run('DROP TABLE sample');
  return look;
}

/** One pass over the file. Values of the kinds that the sample has are not classified, if that is cheaper. */
export async function lookAtAll(
  run: Run,
  source: string,
  columns: readonly DeliveredColumn[],
  sample: Look,
  onShare: (share: number) => void,
): Promise<Look> {
  const values: string[] = [];
  const measures: string[] = ['count(*)'];
  const positions: number[] = [];
  for (const [index, { column, from }] of columns.entries()) {
    const name = quotedIdentifier(column.name);
    positions.push(measures.length);
    if (from === undefined) {
      // Without this DuckDB would not convert the values.
      measures.push(`count(${name})`);
    } else if (from === 'json_mixture') {
      measures.push(...mixtureMeasures(column.name));
    } else {
      const expected = kindsIn(sample.texts.get(column.name)!);
      const kinds = `kinds${index}`;
      values.push(`${oddKindsOf(name, CLASSIFIED[from], expected)} AS ${kinds}`);
      // An expression in place of the column would be computed for every row.
      const example = `arg_max(${name}, ${kinds}) FILTER (${kinds} & ${DEVIATING} <> 0)`;
      measures.push(
        `count(${name})`,
        `histogram(${kinds})`,
        expected & Kind.Other ? 'NULL' : example,
        `min(${name}) FILTER (${kinds} & ${Kind.Missing} <> 0)`,
      );
    }
  }
  const from = values.length === 0 ? source : `(SELECT *, ${values.join(', ')} FROM ${source})`;
  const [row] = (await run(`SELECT ${measures.join(', ')} FROM ${from}`, undefined, onShare)).getRows();
  const look: Look = { rowCount: Number(row![0]), texts: new Map(), mixtures: new Map() };
  for (const [index, { column, from: delivered }] of columns.entries()) {
    const at = positions[index]!;
    if (delivered === undefined) continue;
    if (delivered === 'json_mixture') look.mixtures.set(column.name, mixtureFrom(row!, at));
    else look.texts.set(column.name, textFacts(row!.slice(at, at + 4), sample.texts.get(column.name)!));
  }
  return look;
}

function textFacts([present, histogram, example, missingWord]: unknown[], sample: TextFacts): TextFacts {
  const entries = (histogram as { entries: { key: unknown; value: unknown }[] } | null)?.entries ?? [];
  const expected = kindsIn(sample);
  const facts: TextFacts = {
    name: sample.name,
    from: sample.from,
    present: Number(present),
    plain: expected & ~(Kind.Missing | Kind.Empty | Kind.Spaced | Kind.Nan),
    counts: new Map(entries.map(({ key, value }) => [Number(key), Number(value)])),
    ...(typeof example === 'string' && { example: shortened(example) }),
    ...(typeof missingWord === 'string' && { missingWord: shortened(missingWord) }),
  };
  if (!(expected & Kind.Other)) return facts;
  return {
    ...facts,
    ...(sample.example !== undefined && { example: sample.example }),
    sampled: {
      numbers: countOf(sample, NUMBERS | COMMAS),
      times: countOf(sample, TIMES),
      total: sample.present,
    },
  };
}

function kindsIn({ counts }: TextFacts): number {
  return [...counts.keys()].reduce((kinds, next) => kinds | next, 0);
}

function mixtureMeasures(name: string): string[] {
  const type = `json_type(${quotedIdentifier(name)})`;
  return [
    `count(*) FILTER (${type} IN ('OBJECT', 'ARRAY'))`,
    `count(*) FILTER (${type} NOT IN ('OBJECT', 'ARRAY', 'NULL'))`,
  ];
}

function mixtureFrom(row: readonly unknown[], at: number): Mixture {
  return { nested: Number(row[at]), scalar: Number(row[at + 1]) };
}
