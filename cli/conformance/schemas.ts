/** The schemas of the runtime contract, docs/runtime-contract/schema. */
import { existsSync, readFileSync } from 'node:fs';
import { check, type JsonSchema } from '../../operations/tool/schema.js';

const NAMES = [
  ...['state', 'state-memo', 'start-memo', 'provided-input'],
  ...['heartbeat-report', 'activity-result', 'closing-details'],
] as const;

export type ContractSchema = (typeof NAMES)[number];

/** Compiled code is one folder deeper than the sources. */
const FOLDERS = ['../../docs', '../../../docs'].map(
  (docs) => new URL(`${docs}/runtime-contract/schema/`, import.meta.url),
);

const schemas = new Map<ContractSchema, JsonSchema>();

/** Schemas refer to each other by name, so each comes with all of them. */
function schemaOf(name: ContractSchema): JsonSchema {
  if (schemas.size === 0) {
    const folder = FOLDERS.find((one) => existsSync(one));
    if (!folder) throw new Error(`no docs/runtime-contract above ${import.meta.url}`);
    const read = (each: string) =>
      JSON.parse(readFileSync(new URL(`${each}.json`, folder), 'utf8')) as JsonSchema;
    const $defs = Object.fromEntries(NAMES.map((each) => [each, read(each)]));
    for (const each of NAMES) schemas.set(each, { $ref: `${each}.json`, $defs });
  }
  return schemas.get(name)!;
}

/** Why a value doesn't fit a schema of the contract; empty if it does. */
export function contractProblems(name: ContractSchema, value: unknown): string[] {
  return check(schemaOf(name), value, `${name}.json`);
}
