/**
 * External workflows: workflow types whose workers don't use Longhaul's runtime, in any SDK. A tool's file says how to read their state,
 * answer and cancel them. Otherwise only Temporal's own view of a run counts.
 */
import { defined } from '../json/defined.js';
import { isObject } from '../json/is-object.js';
import type { InputRequest, Progress } from '../record.js';
import type { JsonSchema } from '../tool/schema.js';

/** Path to part of a value, names and positions with dots: `order.items.0`. `.` is the value itself. */
export type FieldPath = string;

/** One argument of a workflow, update or signal: a given value, or an object of some, field -> value. */
export type ArgumentSource = string | Record<string, string>;

/** All arguments: in order, or all given values as one object. */
export type ArgumentList = ArgumentSource[] | 'object';

/** Where a workflow's value has the state's fields. */
export interface ProgressFields {
  progress?: FieldPath;
  /** A number is the total itself. */
  total?: FieldPath | number;
  stage?: FieldPath;
  message?: FieldPath;
}

export interface ProgressMapping {
  /** A query of the workflow, or its activities' heartbeats. */
  from: { query: string } | 'heartbeats';
  fields: ProgressFields;
}

export interface QuestionMapping {
  /** Its result is a question, a list of questions, or nothing: null, false, an empty text, list or map. */
  query: string;
  /** Where a question's text is. Default: `message`, `prompt`, `question`, `text` or `title`, else the question as JSON. */
  message: FieldPath | undefined;
  /** Where a question's identity is, unique in the operation. Default: none. */
  key: FieldPath | undefined;
  /** Flat JSON Schema of the answer. */
  schema: JsonSchema;
  answer: {
    by: 'update' | 'signal';
    name: string;
    /** Made of the answer's fields. */
    args: ArgumentList;
    /** Sent if the person declines; undefined: a decline is refused. */
    decline: unknown[] | undefined;
  };
  approvers: string[] | undefined;
  fourEyes: boolean;
}

export interface ExternalWorkflow {
  type: string;
  taskQueue: string;
  /** Undefined: the connected namespace. */
  namespace: string | undefined;
  /** Template of workflow IDs, with `{argument}`; undefined: the operation's token. */
  id: string | undefined;
  progress: ProgressMapping | undefined;
  question: QuestionMapping | undefined;
  /** Undefined: Temporal's own cancel request. */
  cancelSignal: { name: string; args: unknown[] } | undefined;
  /** Undefined: runs that Longhaul didn't start can't be adopted. */
  adopt: AdoptionRules | undefined;
}

export interface AdoptionRules {
  /** Visibility query of the adopted runs in lists; undefined: none. */
  list: string | undefined;
}

/** Arguments for the workflow, an update or a signal. Missing ones are left out at the end, and null elsewhere. */
export function argumentsOf(list: ArgumentList, values: Record<string, unknown>): unknown[] {
  if (list === 'object') return [values];
  const all = list.map((source) => argumentOf(source, values));
  return all.slice(0, all.findLastIndex((value) => value !== undefined) + 1).map((value) => value ?? null);
}

function argumentOf(source: ArgumentSource, values: Record<string, unknown>): unknown {
  if (typeof source === 'string') return Object.hasOwn(values, source) ? values[source] : undefined;
  const given = Object.entries(source).filter(([, name]) => Object.hasOwn(values, name));
  return Object.fromEntries(given.map(([field, name]) => [field, values[name]]));
}

/** State in a value of a workflow or activity; empty if the value has none of the fields. */
export function progressIn(value: unknown, fields: ProgressFields): { stage?: string; progress?: Progress } {
  const done = numberAt(value, fields.progress);
  const total = typeof fields.total === 'number' ? fields.total : numberAt(value, fields.total);
  const message = textAt(value, fields.message);
  return defined({
    stage: textAt(value, fields.stage),
    progress: done === undefined ? undefined : { progress: done, total, message },
  });
}

export interface ExternalQuestion {
  request: InputRequest;
  /** Identity that the workflow gives it. */
  identity: string | undefined;
  value: unknown;
}

export function questionsIn(result: unknown, mapping: QuestionMapping): ExternalQuestion[] {
  const values: unknown[] = Array.isArray(result) ? result : [result];
  return values.filter(isQuestion).map((value) => ({
    request: {
      message: messageOf(value, mapping.message),
      schema: mapping.schema,
      ...(mapping.approvers ? { approvers: mapping.approvers } : {}),
      ...(mapping.fourEyes ? { fourEyes: true as const } : {}),
    },
    identity: mapping.key === undefined ? undefined : textAt(value, mapping.key),
    value,
  }));
}

function isQuestion(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

const MESSAGE_FIELDS = ['message', 'prompt', 'question', 'text', 'title'];

function messageOf(value: unknown, path: FieldPath | undefined): string {
  const given = path === undefined ? undefined : textAt(value, path);
  if (given) return given;
  if (typeof value === 'string') return value;
  const usual = MESSAGE_FIELDS.map((field) => textAt(value, field)).find(Boolean);
  return usual ?? (value === true ? 'The workflow waits for an answer.' : JSON.stringify(value));
}

function numberAt(value: unknown, path: FieldPath | undefined): number | undefined {
  const found = path === undefined ? undefined : valueAt(value, path);
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

function textAt(value: unknown, path: FieldPath | undefined): string | undefined {
  const found = path === undefined ? undefined : valueAt(value, path);
  if (typeof found === 'string') return found;
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : undefined;
}

function valueAt(value: unknown, path: FieldPath): unknown {
  if (path === '.') return value;
  return path.split('.').reduce<unknown>((found, name) => {
    if (Array.isArray(found)) return (found as unknown[])[Number(name)];
    return isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

/** Structured content of a result, which MCP requires to be an object: any other value becomes the field `result`. */
export function structuredResult(result: unknown): Record<string, unknown> {
  return isObject(result) ? result : { result: result ?? null };
}

export function argumentsInId(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
}

export function idOf(template: string, values: Record<string, unknown>): string {
  return template.replace(/\{([^{}]*)\}/g, (_all, name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : JSON.stringify(value ?? '');
  });
}
