/** Proposes `progress`, `question` and `cancel`, by the names of fields, queries, updates and signals. */
import type { JsonSchema } from '../../operations/tool/schema.js';
import { asForm, inputsFor, type Inputs } from './inputs.js';
import { wordsOf } from './names.js';
import type { Observed } from './observed.js';
import type { SeenValues } from './seen-values.js';
import { typesOf, type JsonType, type Shape } from './shape.js';

/** Names of fields, the clearest first. */
const DONE = ['done', 'completed', 'processed', 'progress', 'finished', 'rows', 'count', 'current', 'offset'];
const PERCENT = ['percent', 'percentage', 'pct'];
const TOTAL = ['total', 'of', 'size', 'expected', 'goal'];
const STAGE = ['stage', 'step', 'phase', 'state', 'status'];
const MESSAGE = ['message', 'detail', 'text'];

const PROGRESS_WORDS = ['progress', 'status', 'percent', 'percentage'];
const QUESTION_WORDS = [
  'question',
  'questions',
  'approval',
  'approvals',
  'pending',
  'asks',
  'asked',
  'prompt',
];
const ANSWER_WORDS = ['answer', 'approve', 'decide', 'decision', 'respond', 'response', 'reply', 'confirm'];
const CANCEL_WORDS = ['cancel', 'stop', 'abort'];

type ProgressMap = Record<string, string | number>;

export interface ProgressProposal {
  progress: { heartbeats: true; map: ProgressMap } | { query: string; map: ProgressMap };
  /** Why, and what to check. */
  reason: string;
}

/** Progress by heartbeats, if one has fields that look like it. */
export function heartbeatProgress({ heartbeats }: Observed): ProgressProposal | undefined {
  for (const [activity, { shapes }] of heartbeats) {
    const map = shapes[0] && heartbeatMap(shapes[0]);
    if (map)
      return { progress: { heartbeats: true, map }, reason: `heartbeats of ${activity} have these fields` };
  }
  return undefined;
}

function heartbeatMap(shape: Shape): ProgressMap | undefined {
  if (hasOnly(shape, ['number', 'integer'])) return { progress: '.' };
  if (!hasOnly(shape, ['object'])) return undefined;
  const [done, percent] = [fieldNamed(shape, DONE, 'number'), fieldNamed(shape, PERCENT, 'number')];
  const total = percent === undefined ? fieldNamed(shape, TOTAL, 'number') : 100;
  const [stage, message] = [fieldNamed(shape, STAGE, 'string'), fieldNamed(shape, MESSAGE, 'string')];
  const progress = percent ?? done;
  const map = {
    ...(progress === undefined ? {} : { progress }),
    ...(progress === undefined || total === undefined ? {} : { total }),
    ...(stage === undefined ? {} : { stage }),
    ...(message === undefined || progress === undefined ? {} : { message }),
  };
  return Object.keys(map).length > 0 ? map : undefined;
}

/** Finds a field of this type by the first matching word: exact names first, then names that contain the word. */
function fieldNamed({ fields }: Shape, words: string[], type: 'number' | 'string'): string | undefined {
  const types: JsonType[] = type === 'number' ? ['number', 'integer'] : ['string'];
  const fitting = [...fields].filter(([, field]) => hasOnly(field, types)).map(([name]) => name);
  for (const word of words) {
    const found =
      fitting.find((name) => name.toLowerCase() === word) ??
      fitting.find((name) => wordsOf(name).includes(word));
    if (found !== undefined) return found;
  }
  return undefined;
}

function hasOnly(shape: Shape, types: JsonType[]): boolean {
  const found = typesOf(shape);
  return found.length > 0 && found.every((type) => types.includes(type));
}

/** Progress by a query whose name says so. Its fields are a guess, because only the query of definitions is sent. */
export function queryProgress({ definitions }: Observed): ProgressProposal | undefined {
  if (definitions === undefined || definitions === 'none') return undefined;
  const query = named(
    definitions.queries.map(({ name }) => name),
    PROGRESS_WORDS,
  )[0];
  if (query === undefined) return undefined;
  return {
    progress: { query, map: { progress: 'progress', total: 'total', stage: 'stage', message: 'message' } },
    reason: `the query's name says so. Its fields are guesses: look at its value, and keep those that it has`,
  };
}

export interface QuestionProposal {
  question: {
    query: string;
    fields?: { properties: Record<string, JsonSchema>; required?: string[] };
    answer: { update?: string; signal?: string; args?: Inputs['args'] };
  };
  /** Whether runs have shown how it is answered. */
  isSeen: boolean;
}

/** A question by a query and an update or signal with descriptive names. */
export function questionOf({ definitions, updates, signals }: Observed): QuestionProposal | undefined {
  if (definitions === undefined || definitions === 'none') return undefined;
  const [query] = named(
    definitions.queries.map(({ name }) => name),
    QUESTION_WORDS,
  );
  if (query === undefined) return undefined;
  const namesOf = (defined: { name: string }[], seen: Map<string, SeenValues>) =>
    named([...new Set([...defined.map(({ name }) => name), ...seen.keys()])], ANSWER_WORDS);
  const updateNames = namesOf(definitions.updates, updates);
  const signalNames = namesOf(definitions.signals, signals);
  const name = updateNames[0] ?? signalNames[0];
  if (name === undefined) return undefined;
  const isUpdate = updateNames.length > 0;
  const way = isUpdate ? { update: name } : { signal: name };
  const seen = (isUpdate ? updates : signals).get(name);
  const form =
    seen && seen.encodings.every(({ size }) => size === 0) ? asForm(namedAnswer(inputsFor(seen))) : undefined;
  if (!form) return { question: { query, answer: { ...way, args: ['approved'] } }, isSeen: false };
  const { properties, required, args } = form;
  return {
    question: {
      query,
      fields: { properties, ...(required.length > 0 ? { required } : {}) },
      answer: { ...way, ...(args ? { args } : {}) },
    },
    // If several may answer, a person must choose.
    isSeen: updateNames.length <= 1 && (isUpdate || signalNames.length === 1),
  };
}

/** Gives an answer's positional arguments their usual names: a leading boolean is the approval. */
function namedAnswer(inputs: Inputs): Inputs {
  const { properties, required, args } = inputs;
  if (!Array.isArray(args) || properties['arg1']?.['type'] !== 'boolean') return inputs;
  const rename = (name: string) => (name === 'arg1' ? 'approved' : name);
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [rename(name), one])),
    required: required.map(rename),
    args: args.map(rename),
  };
}

/** A signal whose name says that it cancels. */
export function cancelSignalOf({ definitions, signals }: Observed): string | undefined {
  const defined = definitions === undefined || definitions === 'none' ? [] : definitions.signals;
  return named([...new Set([...signals.keys(), ...defined.map(({ name }) => name)])], CANCEL_WORDS)[0];
}

/** Names with one of the words, in the words' order. */
function named(names: string[], words: string[]): string[] {
  return [...new Set(words.flatMap((word) => names.filter((name) => wordsOf(name).includes(word))))];
}
