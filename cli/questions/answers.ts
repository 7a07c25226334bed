/** Answers from command-line flags. */
import { isObject } from '../../operations/json/is-object.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { usageFailure } from '../client/failures.js';
import {
  choicesOf,
  parseExactJson,
  propertiesOf,
  formatValue,
  typesOf,
  parseValue,
} from '../tools/schema-values.js';
import type { Session } from '../client/session.js';
import { oneLine } from '../terminal/table.js';
import { escapedLines } from '../terminal/terminal-text.js';
import { ANSWERS_META_KEY, type AnswerOutcome } from '../../operations/wire/meta-keys.js';
import type { InputRequest, InputResponse } from '../client/wire.js';

export interface AnswerFlags {
  content?: string;
  decline?: boolean;
  cancel?: boolean;
  field?: string[];
}

/** The response in the flags, if they give one. @throws CommandFailure when the flags conflict, or don't fit the question */
export function responseFrom(flags: AnswerFlags, question: InputRequest): InputResponse | undefined {
  const given = [flags.content !== undefined, flags.field !== undefined, flags.decline, flags.cancel];
  const count = given.filter(Boolean).length;
  if (count === 0) return undefined;
  if (count > 1)
    throw usageFailure('expected one of --content, --field, --decline and --cancel; got several');
  if (flags.decline) return { action: 'decline' };
  if (flags.cancel) return { action: 'cancel' };
  return { action: 'accept', content: contentFrom(flags, question.params?.requestedSchema ?? {}) };
}

function contentFrom({ content, field = [] }: AnswerFlags, schema: JsonSchema): Record<string, unknown> {
  if (content !== undefined) {
    const value = parseExactJson(content, '--content');
    if (!isObject(value))
      throw usageFailure(`--content: expected a JSON object; got ${JSON.stringify(content)}`);
    return value;
  }
  const properties = new Map(propertiesOf(schema));
  return Object.fromEntries(
    field.map((word) => {
      const [, name = '', text = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      const property = properties.get(name);
      if (!property) {
        const known = [...properties.keys()].join(', ') || 'none';
        throw usageFailure(
          `--field: expected NAME=VALUE with one of the fields ${known}; got ${JSON.stringify(word)}`,
        );
      }
      const isList = typesOf(property).join() === 'array' && !text.startsWith('[');
      const items = (property['items'] ?? {}) as JsonSchema;
      const where = `--field ${name}`;
      return [
        name,
        isList
          ? text.split(',').map((item) => parseValue(item, items, where))
          : parseValue(text, property, where),
      ];
    }),
  );
}

/** Sends answers. @returns a line for each, and whether any was refused, because another answer was first or the question is closed */
export async function sendAnswers(
  session: Session,
  taskId: string,
  inputResponses: Record<string, InputResponse>,
): Promise<{ lines: string[]; isRefused: boolean }> {
  const { _meta } = await session.request<{ _meta?: Record<string, unknown> }>('tasks/update', {
    taskId,
    inputResponses,
  });
  const outcomes = (_meta?.[ANSWERS_META_KEY] as AnswerOutcome[] | undefined) ?? [];
  const lines = Object.entries(inputResponses).map(([key, { action }]) => {
    const outcome = outcomes.find((one) => one.key === key);
    return oneLine(`${key}: ${action}${outcome ? noteOf(outcome) : ''}`);
  });
  return { lines, isRefused: outcomes.some(({ state }) => state === 'refused') };
}

/** Note for a line about an answer; empty for one that counts. */
export function noteOf({ state, reason }: Pick<AnswerOutcome, 'state' | 'reason'>): string {
  if (state === 'queued') return ' (queued until there is a worker)';
  return state === 'refused' ? ` (refused: ${reason ?? 'another answer was first'})` : '';
}

/** Explains how to answer a question from another shell. */
export function answerInstructions(
  session: Session,
  token: string,
  key: string,
  question: InputRequest,
): string[] {
  const { message, requestedSchema } = question.params ?? {};
  const fields = propertiesOf(requestedSchema ?? {}).map(
    ([name, schema]) => `--field=${name}=${exampleOf(schema)}`,
  );
  const choices = propertiesOf(requestedSchema ?? {}).flatMap(([name, schema]) => {
    const all = choicesOf(schema)?.map(({ label, value }) =>
      label === formatValue(value) ? label : `${formatValue(value)} (${oneLine(label)})`,
    );
    return all ? [`  ${name}: ${all.join(', ')}`] : [];
  });
  return [
    ...escapedLines(`question ${key}: ${message ?? question.method}`),
    ...choices,
    `  answer:  ${session.hint('answer', token, key, ...(fields.length ? fields : ['--content={}']))}`,
    `  decline: ${session.hint('answer', token, key, '--decline')}`,
  ];
}

function exampleOf(schema: JsonSchema): string {
  if (schema['default'] !== undefined) return formatValue(schema['default']);
  const [choice] = choicesOf(schema) ?? choicesOf((schema['items'] ?? {}) as JsonSchema) ?? [];
  if (choice) return formatValue(choice.value);
  switch (typesOf(schema)[0]) {
    case 'boolean':
      return 'true';
    case 'number':
    case 'integer':
      return formatValue(schema['minimum'] ?? 1);
    default:
      return '...';
  }
}
