/** Checks of the pipeline's outputs: references, and values that can't fit their type. */
import { isObject } from '../../operations/json/is-object.js';
import { declaredType, readOutput } from '../output-value.js';
import { didYouMean } from '../../operations/json/near-names.js';
import type { KeyPath, Report } from '../yaml/problems.js';
import { at, entriesOf, itemsOf, textsOf } from '../values.js';
import { checkSchema } from './schemas.js';

export function checkOutputs(file: unknown, report: Report): void {
  const jobs = at(file, 'jobs');
  const written = new Map<string, Map<string, Literal>>();
  for (const [name, output] of entriesOf(at(file, 'outputs'))) {
    const schema = isObject(output) ? { type: 'string', ...output } : { type: 'string' };
    checkSchema(schema, ['outputs', name], report);
    const [job, key] = checkReference(output, ['outputs', name], jobs, report);
    const isMeant = checkType(output, name, at(jobs, job), job, report);
    if (!isMeant || key === undefined) continue;
    if (!written.has(job)) written.set(job, lastLiterals(scriptsOf(at(jobs, job))));
    const literal = written.get(job)!.get(key);
    if (literal) checkLiteral(name, schema, [job, key], literal, report);
  }
}

/** @returns the job and its key; empty if the job doesn't exist, without a key if the job doesn't have it */
function checkReference(
  output: unknown,
  outputPath: KeyPath,
  jobs: unknown,
  report: Report,
): [job: string, key?: string] {
  const path = isObject(output) ? [...outputPath, 'value'] : outputPath;
  const value = isObject(output) ? at(output, 'value') : output;
  const [, job, key] = /^([^.\s]+)\.([^.\s]+)$/.exec(typeof value === 'string' ? value : '') ?? [];
  if (job === undefined || key === undefined || !isObject(jobs)) return [''];
  if (!Object.hasOwn(jobs, job)) {
    report(path, () => `there is no job "${job}"${didYouMean(job, Object.keys(jobs))}`);
    return [''];
  }
  const keys = textsOf(at(jobs[job], 'outputs')).map(([, one]) => one);
  if (keys.includes(key)) return [job, key];
  const near = () => didYouMean(key, keys) || `; add it to jobs.${job}.outputs`;
  report(path, () => `the job "${job}" has no output "${key}"${near()}`);
  return [job];
}

/** Keywords without effect on text, by the type that they apply to. */
const KEYWORDS = {
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
};

function typeOf(keyword: string): string | undefined {
  return Object.entries(KEYWORDS).find(([, keywords]) => keywords.includes(keyword))?.[0];
}

/** Reports likely mistakes: the type of the whole list instead of one value's, or a missing type. @returns whether the type is plausible */
function checkType(output: unknown, name: string, job: unknown, jobName: string, report: Report): boolean {
  if (!isObject(output)) return true;
  const isEach = at(job, 'for-each') !== undefined;
  const type = at(output, 'type');
  if (isEach && type === 'array') {
    report(
      ['outputs', name, 'type'],
      `expected the type of one item's value, such as \`integer\`; got "array"; the job "${jobName}" runs for each item, and the output is the list of their values; if each value is itself a list, write \`type: [array]\``,
    );
    return false;
  }
  const keyword = type === undefined ? Object.keys(output).find(typeOf) : undefined;
  if (keyword === undefined) return true;
  report(
    ['outputs', name, keyword],
    isEach && typeOf(keyword) === 'array'
      ? `has no effect on text; the job "${jobName}" runs for each item, and the output is the list of their values: set \`type\` to the type of one value`
      : `has no effect on text, the default type of an output; add \`type: ${typeOf(keyword)}\``,
    'key',
  );
  return false;
}

function scriptsOf(job: unknown): Script[] {
  return itemsOf(at(job, 'steps')).flatMap((step, index) => {
    const run = at(step, 'run');
    return typeof run === 'string' ? [{ step: index, run, isForFailure: at(step, 'if') === 'failure' }] : [];
  });
}

/** Reports a literal value in the job's scripts that doesn't fit the output. */
function checkLiteral(
  name: string,
  schema: Record<string, unknown>,
  [job, key]: [string, string],
  { step, statement, value }: Literal,
  report: Report,
): void {
  try {
    const { problems, inexact } = readOutput(schema, value);
    if (inexact !== undefined) problems.push(inexact);
    if (problems.length > 0)
      report(
        ['jobs', job, 'steps', step, 'run'],
        `writes ${key}, which is output "${name}", declared as ${declaredType(schema)}: ${problems.join('; ')}`,
        { text: statement },
      );
  } catch {
    // The invalid schema is reported at its own place.
  }
}

interface Script {
  /** From 0. */
  step: number;
  run: string;
  /** Whether the step runs only after a failure: a job that succeeds doesn't have its values. */
  isForFailure: boolean;
}

interface Literal {
  step: number;
  statement: string;
  value: string;
}

const FILE = String.raw`(?:"\$LONGHAUL_OUTPUT"|"\$\{LONGHAUL_OUTPUT\}"|\$LONGHAUL_OUTPUT|\$\{LONGHAUL_OUTPUT\})`;

const WRITE = new RegExp(
  String.raw`^echo\s+(?:"([\w-]+)=([^"$\x60\\]*)"|'([\w-]+)=([^']*)'|([\w-]+)=([\w.,:/@%+-]*))\s*>>\s*${FILE}$`,
);
const MENTION = /(?<![\w-])([A-Za-z_][\w-]*)(?:=|<<)/g;

/** Values of unconditional `echo "key=text" >> "$LONGHAUL_OUTPUT"`, without expansions, for keys that no later line mentions. */
function lastLiterals(scripts: readonly Script[]): Map<string, Literal> {
  const found = new Map<string, Literal>();
  for (const { step, run, isForFailure } of scripts) {
    let depth = 0;
    for (const statement of run.split(/\n|;/).map((one) => one.trim())) {
      if (/^(if|for|while|until|case|select)\b|[{(]$/.test(statement)) depth += 1;
      if (/^(fi|done|esac)\b|^[})]/.test(statement)) depth -= 1;
      for (const [, key] of statement.matchAll(MENTION)) found.delete(key!);
      const match = isForFailure || depth > 0 ? null : WRITE.exec(statement);
      if (!match) continue;
      const [key, value] = match.slice(1).filter((part) => part !== undefined) as [string, string];
      found.set(key, { step, statement, value });
    }
  }
  return found;
}
