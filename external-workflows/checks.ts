/** Checks beyond the schema, for keys that depend on each other. The file may have any form: the schema reports problems of form. */
import { isObject } from '../operations/json/is-object.js';
import { argumentsInId } from '../operations/wire/external-workflow.js';
import { didYouMean } from '../operations/json/near-names.js';
import { RESERVED_ARGUMENTS } from '../operations/tool/index.js';
import { checkFields, checkSchema } from '../pipelines/checks/schemas.js';
import type { KeyPath, Report } from '../pipelines/yaml/problems.js';
import { at, entriesOf, itemsOf } from '../pipelines/values.js';

const DEFAULT_FIELDS = { properties: { approved: {} } };

export function checkToolFile(file: unknown, report: Report): void {
  checkKind(file, report);
  checkInput(file, report);
  checkArguments(at(file, 'args'), ['args'], at(file, 'input'), 'input', report);
  checkId(file, report);
  checkSchema(at(file, 'output'), ['output'], report);
  checkProgress(at(file, 'progress'), report);
  checkQuestion(at(file, 'question'), report);
}

/** Keys allowed beside `nexus` if the service lists its tools. */
const OF_SERVICES = ['nexus', 'timeout-minutes', 'estimate-minutes', 'retryable-errors'];

/** Keys only for workflows: Longhaul's own workflow calls a Nexus operation. */
const OF_WORKFLOWS = ['progress', 'question', 'cancel', 'adopt'];

function checkKind(file: unknown, report: Report): void {
  if (!isObject(file)) return;
  const [workflow, nexus] = [at(file, 'workflow'), at(file, 'nexus')];
  if (workflow === undefined && nexus === undefined)
    report(
      [],
      'expected `workflow` or `nexus`, such as `workflow: { type: RefundWorkflow, task-queue: refunds }`',
    );
  if (nexus === undefined) return;
  if (workflow !== undefined) report(['nexus'], 'expected either `workflow` or `nexus`; got both', 'key');
  for (const key of OF_WORKFLOWS)
    if (at(file, key) !== undefined)
      report([key], 'belongs to tools over workflows; Longhaul itself calls a Nexus operation', 'key');
  if (isObject(nexus) && at(nexus, 'operation') === undefined)
    for (const key of Object.keys(file))
      if (![...OF_SERVICES, ...OF_WORKFLOWS].includes(key))
        report(
          [key],
          'belongs to one tool, with `nexus.operation`; a service without it describes its tools itself',
          'key',
        );
  if (Array.isArray(at(file, 'args')))
    report(['args'], 'expected a map of fields and inputs: a Nexus operation has one input; got a list');
}

function checkInput(file: unknown, report: Report): void {
  const schema = at(file, 'input');
  const type = at(schema, 'type');
  if (typeof type === 'string' && type !== 'object')
    report(['input', 'type'], `expected object; got "${type}"`);
  for (const reserved of RESERVED_ARGUMENTS)
    if (at(at(schema, 'properties'), reserved) !== undefined)
      report(
        ['input', 'properties', reserved],
        `the name is reserved for every tool's calls; choose another, and give it to the workflow by \`args: { ${reserved}: other_name }\``,
        'key',
      );
  checkSchema(schema, ['input'], report);
}

/** @param schema of the values that make up the arguments @param noun of such a value */
function checkArguments(args: unknown, path: KeyPath, schema: unknown, noun: string, report: Report): void {
  const known = Object.keys(at(schema, 'properties') ?? {});
  const checkName = (name: unknown, place: KeyPath) => {
    if (typeof name !== 'string' || known.includes(name)) return;
    report(
      place,
      () => `"${name}" is no ${noun}; known are ${known.join(', ') || 'none'}${didYouMean(name, known)}`,
    );
  };
  for (const [index, source] of itemsOf(args).entries()) {
    checkName(source, [...path, index]);
    for (const [field, name] of entriesOf(source)) checkName(name, [...path, index, field]);
  }
  for (const [field, name] of entriesOf(args)) checkName(name, [...path, field]);
}

function checkId(file: unknown, report: Report): void {
  const id = at(at(file, 'workflow'), 'id');
  if (typeof id !== 'string') return;
  const path = ['workflow', 'id'];
  const input = at(file, 'input');
  const required = itemsOf(at(input, 'required'));
  const names = argumentsInId(id);
  if (names.length === 0)
    report(path, 'expected an input in braces, `refund-{order_id}`; all operations would have the same ID');
  for (const name of names) {
    if (at(at(input, 'properties'), name) === undefined)
      report(path, `"${name}" is no input; known are ${listOf(at(input, 'properties'))}`);
    else if (!required.includes(name))
      report(path, `the input "${name}" must be in \`input.required\`: the ID depends on it`);
  }
}

function checkProgress(progress: unknown, report: Report): void {
  if (!isObject(progress)) return;
  checkEither(progress, ['query', 'heartbeats'], ['progress'], report);
  const map = at(progress, 'map');
  if (isObject(map) && Object.keys(map).length === 0)
    report(
      ['progress', 'map'],
      'expected at least one of progress, total, stage and message; got an empty map',
    );
}

function checkQuestion(question: unknown, report: Report): void {
  if (!isObject(question)) return;
  const fields = at(question, 'fields');
  checkFields(fields, ['question', 'fields'], report);
  const answer = at(question, 'answer');
  if (!isObject(answer)) return;
  checkEither(answer, ['update', 'signal'], ['question', 'answer'], report);
  const schema = fields === undefined ? DEFAULT_FIELDS : fields;
  checkArguments(at(answer, 'args'), ['question', 'answer', 'args'], schema, 'answer field', report);
}

/** Reports a map that has neither or both of two keys. */
function checkEither(map: unknown, [one, other]: [string, string], path: KeyPath, report: Report): void {
  const count = [one, other].filter((key) => at(map, key) !== undefined).length;
  if (count !== 1)
    report(path, `expected either \`${one}\` or \`${other}\`; got ${count === 0 ? 'neither' : 'both'}`);
}

function listOf(map: unknown): string {
  return Object.keys(map ?? {}).join(', ') || 'none';
}
