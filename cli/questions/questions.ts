/** Prompts in the terminal, by the question's schema (specs: 2026-07-28 client/elicitation, "Requested Schema"). */
import type { JsonSchema } from '../../operations/tool/schema.js';
import { check } from '../../operations/tool/schema.js';
import {
  choicesOf,
  isRequired,
  propertiesOf,
  formatValue,
  typesOf,
  parseValue,
  type Choice,
} from '../tools/schema-values.js';
import { CANCELLED, confirm, multiselect, select, text } from './prompts.js';
import { oneLine } from '../terminal/table.js';
import { escapedLines } from '../terminal/terminal-text.js';
import type { InputRequest, InputResponse } from '../client/wire.js';

/** `left`: Ctrl-C at a prompt. `gone`: somebody else answered in the meantime. */
export type NoResponse = 'left' | 'gone';

/** Choice for leaving out a field. */
const SKIPPED = Symbol('skipped');
const YES_OR_NO: Choice[] = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
];

/** Asks whether to answer a question, then asks field by field. @param asker token to show if several operations may ask */
export async function ask(
  question: InputRequest,
  gone: AbortSignal,
  asker?: string,
): Promise<InputResponse | NoResponse> {
  const schema = question.params?.requestedSchema ?? { type: 'object', properties: {} };
  const common = { signal: gone };
  const message = escapedLines(question.params?.message ?? 'The tool asks something.').join('\n');
  const action = await select({
    ...common,
    message: asker === undefined ? message : `${oneLine(asker)}: ${message}`,
    options: [
      { value: 'accept' as const, label: 'Answer' },
      { value: 'decline' as const, label: 'Decline', hint: 'the tool is notified' },
      { value: 'cancel' as const, label: 'Dismiss', hint: 'the tool may ask again' },
    ],
  });
  if (action === CANCELLED) return gone.aborted ? 'gone' : 'left';
  if (action !== 'accept') return { action };
  const content: Record<string, unknown> = {};
  for (const [name, property] of propertiesOf(schema)) {
    const value = await askField(name, property, isRequired(schema, name), common);
    if (value === CANCELLED) return gone.aborted ? 'gone' : 'left';
    if (value !== SKIPPED) content[name] = value;
  }
  return { action, content };
}

/** Asks several questions in turn. @returns their responses by key; undefined if one got none */
export async function askAll(
  questions: Record<string, InputRequest>,
  gone: AbortSignal = new AbortController().signal,
): Promise<Record<string, InputResponse> | undefined> {
  const responses: Record<string, InputResponse> = {};
  for (const [key, question] of Object.entries(questions)) {
    const response = await ask(question, gone);
    if (typeof response === 'string') return undefined;
    responses[key] = response;
  }
  return responses;
}

async function askField(
  name: string,
  schema: JsonSchema,
  required: boolean,
  common: { signal: AbortSignal },
): Promise<unknown> {
  const label = oneLine(formatValue(schema['description'] ?? schema['title'] ?? name));
  const message = required ? label : `${label} (optional)`;
  const initial = schema['default'];
  const isBoolean = typesOf(schema).join() === 'boolean';
  const choices = choicesOf(schema) ?? (isBoolean && !required ? YES_OR_NO : undefined);
  if (choices) {
    const index = await select({
      ...common,
      message,
      options: [...options(choices), ...(required ? [] : [{ value: -1, label: '(no answer)' }])],
      initialValue: choices.findIndex(({ value }) => value === initial),
    });
    if (index === CANCELLED) return index;
    return index === -1 ? SKIPPED : choices[index]!.value;
  }
  const items = choicesOf((schema['items'] ?? {}) as JsonSchema);
  if (items) {
    const chosen = await multiselect({
      ...common,
      message,
      options: options(items),
      required: Number(schema['minItems'] ?? 0) > 0,
      initialValues: items.flatMap(({ value }, index) =>
        Array.isArray(initial) && initial.includes(value) ? [index] : [],
      ),
    });
    return chosen === CANCELLED ? chosen : chosen.map((index) => items[index]!.value);
  }
  if (isBoolean) {
    return confirm({ ...common, message, initialValue: initial === true });
  }
  const typed = await text({
    ...common,
    message,
    ...(initial === undefined ? {} : { initialValue: formatValue(initial) }),
    validate: (value) => (!value && !required ? undefined : problemOf(value, schema, name)),
  });
  if (typed === CANCELLED) return typed;
  return !typed && !required ? SKIPPED : parseValue(typed, schema, name);
}

function options(choices: Choice[]): { value: number; label: string }[] {
  return choices.map(({ label }, index) => ({ value: index, label }));
}

/** Validation message for a typed value; undefined for a valid one. */
function problemOf(text: string, schema: JsonSchema, name: string): string | undefined {
  try {
    return check(schema, parseValue(text, schema, name), name)[0];
  } catch (error) {
    return (error as Error).message;
  }
}
