/** Proposes `progress`, `question` and `cancel`, by the names of fields, queries, updates and signals. */
import { defined } from '../../operations/json/defined.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { asForm, inputsFor, numberedArgument, type Inputs, type NameArgument } from './inputs.js';
import { wordsOf } from './names.js';
import type { Observed } from './observed.js';
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

interface ProgressProposal {
  progress: { heartbeats: true; map: ProgressMap } | { query: string; map: ProgressMap };
  /** Why, and what to check. */
  reason: string;
}

/** Progress by heartbeats or a query, or a query that may give it. @param askedQuery gives the question, so it can't be both */
export function progressOf(
  observed: Observed,
  askedQuery: string | undefined,
): { proposed?: ProgressProposal; suggestedQuery?: string } {
  const queries = observed.namesOf('queries').filter((name) => name !== askedQuery);
  const [query] = named(queries, PROGRESS_WORDS);
  const byHeartbeats = heartbeatProgress(observed);
  if (byHeartbeats || query === undefined)
    return { proposed: byHeartbeats, suggestedQuery: query ?? queries[0] };
  // The fields are a guess, because only the query of definitions is sent.
  const map = { progress: 'progress', total: 'total', stage: 'stage', message: 'message' };
  const reason =
    "the query's name says so. Its fields are guesses: look at its value, and keep those that it has";
  return { proposed: { progress: { query, map }, reason } };
}

/** Progress by heartbeats, if one has fields that look like it. */
function heartbeatProgress({ heartbeats }: Observed): ProgressProposal | undefined {
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
  const map = defined({ ...(progress === undefined ? {} : { progress, total, message }), stage });
  return Object.keys(map).length > 0 ? map : undefined;
}

/** Finds a field of this type by the first matching word: exact names first, then names that contain the word. */
function fieldNamed({ fields }: Shape, words: string[], type: 'number' | 'string'): string | undefined {
  const types: JsonType[] = type === 'number' ? ['number', 'integer'] : [type];
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
export function questionOf(observed: Observed): QuestionProposal | undefined {
  const [query] = named(observed.namesOf('queries'), QUESTION_WORDS);
  const updates = named(observed.namesOf('updates'), ANSWER_WORDS);
  const signals = named(observed.namesOf('signals'), ANSWER_WORDS);
  const [name] = [...updates, ...signals];
  if (query === undefined || name === undefined) return undefined;
  const isUpdate = updates.length > 0;
  const way = isUpdate ? { update: name } : { signal: name };
  const seen = (isUpdate ? observed.updates : observed.signals).get(name);
  const isPlain = seen?.encodings.every(({ size }) => size === 0);
  const form = isPlain ? asForm(inputsFor(seen!, answerArgument)) : undefined;
  if (!form) return { question: { query, answer: { ...way, args: ['approved'] } }, isSeen: false };
  const { properties, required, args } = form;
  return {
    question: {
      query,
      fields: { properties, ...(required.length > 0 ? { required } : {}) },
      answer: { ...way, ...(args ? { args } : {}) },
    },
    // If several may answer, a person must choose.
    isSeen: updates.length <= 1 && (isUpdate || signals.length === 1),
  };
}

/** The usual names of an answer's arguments: a leading boolean is the approval. */
const answerArgument: NameArgument = (place, shape) =>
  place === 0 && shape && hasOnly(shape, ['boolean']) ? 'approved' : numberedArgument(place, shape);

/** A signal whose name says that it cancels. */
export function cancelSignalOf(observed: Observed): string | undefined {
  return named(observed.namesOf('signals'), CANCEL_WORDS)[0];
}

/** Names with one of the words, in the words' order. */
function named(names: string[], words: string[]): string[] {
  return [...new Set(words.flatMap((word) => names.filter((name) => wordsOf(name).includes(word))))];
}
