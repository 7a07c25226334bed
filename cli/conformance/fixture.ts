/** A fixture workflow of the worker under test, as a client of Temporal sees it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { CODE_ROOT, IS_COMPILED } from '../../platform/code-root.js';
import { decodeArrayFromPayloads } from '../../platform/temporal/internal/payloads.js';
import type { Answer } from '../../operations/record.js';
import {
  ANONYMOUS,
  OPERATION_QUERY,
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  SEARCH_ATTRIBUTES,
  START_MEMO,
  type ProvidedInput,
  type StartMemo,
} from '../../operations/wire/index.js';
import {
  DETAILS_MEMO,
  INPUT_MEMO,
  INPUT_MEMO_BYTES,
  jsonBytes,
  PARTIAL_MEMO,
  publishedState,
  SMALL_FIELD_BYTES,
  STATE_MEMO,
  UNSTORED_BYTES,
  type OperationState,
  type PublishedState,
} from '../../operations/wire/state.js';
import { check, type JsonSchema } from '../../operations/tool/schema.js';

const POLL_MS = 100;
const STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, SearchAttributeType.KEYWORD);

export interface CheckResult {
  level: number;
  workflow: string;
  requirement: string;
  /** Why it isn't met; missing if it is. */
  problem?: string;
}

export interface ConformanceOptions {
  client: Client;
  taskQueue: string;
  /** Longest wait for a change, in milliseconds. */
  limitMs: number;
  /** Whether the namespace has Longhaul's search attributes. */
  searchAttributes: boolean;
}

/** The rest of a fixture can't be checked. */
export class FixtureStopped extends Error {}

/** @throws Error with the problem unless the requirement is met */
export function expectThat(isMet: unknown, expected: string, found?: unknown): asserts isMet {
  if (isMet) return;
  const got = JSON.stringify(found) ?? 'nothing';
  throw new Error(`expected ${expected}; got ${got.length > 300 ? `${got.slice(0, 300)} ...` : got}`);
}

export class Fixture {
  readonly results: CheckResult[] = [];
  readonly #workflowId: string;
  readonly #memoProblems = new Set<string>();
  #hasState = false;

  constructor(
    readonly name: string,
    readonly level: number,
    private readonly options: ConformanceOptions,
  ) {
    this.#workflowId = `contract-${name}-${randomUUID()}`;
  }

  get hasSearchAttributes(): boolean {
    return this.options.searchAttributes;
  }

  get handle(): WorkflowHandle {
    return this.options.client.workflow.getHandle(this.#workflowId);
  }

  async start(...args: unknown[]): Promise<void> {
    const { client, taskQueue, searchAttributes, limitMs } = this.options;
    const memo: StartMemo = {
      version: 1,
      tool: this.name,
      principal: ANONYMOUS,
      argumentsDigest: '',
      deadlineSeconds: 600,
      inputWaitSeconds: 600,
      keepAliveSeconds: 600,
      searchAttributes,
      attempt: 1,
    };
    await client.workflow.start(this.name, {
      workflowId: this.#workflowId,
      taskQueue,
      args,
      memo: { [START_MEMO]: memo },
      // Cleans up even if this process is killed.
      workflowExecutionTimeout: 20 * limitMs,
      workflowTaskTimeout: '5s',
    });
  }

  async check(requirement: string, run: () => Promise<void> | void): Promise<boolean> {
    const result: CheckResult = { level: this.level, workflow: this.name, requirement };
    this.results.push(result);
    // Ends an update or query that the worker doesn't answer. Waits within the run have the same limit, and say what they wait for.
    const until = Date.now() + this.options.limitMs + 5_000;
    try {
      await this.options.client.withDeadline(until, async () => run());
      return true;
    } catch (error) {
      result.problem = (error as Error).message.split('\n').join('; ');
      return false;
    }
  }

  /** Records a requirement that all further checks need. @throws FixtureStopped */
  async need<T>(requirement: string, run: () => Promise<T>): Promise<T> {
    let found: T | undefined;
    if (await this.check(requirement, async () => void (found = await run()))) return found as T;
    throw new FixtureStopped();
  }

  /** Waits until `read` returns a value. */
  async eventually<T>(expected: string, read: () => Promise<T | undefined>): Promise<T> {
    const until = performance.now() + this.options.limitMs;
    for (;;) {
      const found = await read();
      if (found !== undefined) return found;
      if (performance.now() > until) break;
      await delay(POLL_MS);
    }
    const { memo, historyLength } = await this.handle.describe();
    const hint = historyLength <= 3 ? ` Does a worker poll "${this.options.taskQueue}"?` : '';
    throw new Error(
      `expected ${expected} within ${this.options.limitMs / 1000} s; the state memo is ` +
        `${JSON.stringify(memo?.[STATE_MEMO]) ?? 'missing'}.${hint}`,
    );
  }

  async describe(): Promise<WorkflowExecutionDescription & { state: PublishedState | undefined }> {
    const description = await this.handle.describe();
    const state = publishedState(description.memo);
    this.#hasState ||= state !== undefined;
    for (const problem of memoProblems(description.memo)) this.#memoProblems.add(problem);
    return Object.assign(description, { state });
  }

  /** Waits for a state in the memo that meets the condition. */
  async state(expected: string, isMet: (state: PublishedState) => boolean): Promise<PublishedState> {
    return this.eventually(expected, async () => {
      const { state } = await this.describe();
      return state && isMet(state) ? state : undefined;
    });
  }

  /** Waits for an open question with this message, and returns its key. */
  async question(message: string): Promise<{ key: string }> {
    return this.eventually(`an open question "${message}" in the memo ${INPUT_MEMO}`, async () => {
      const { state } = await this.describe();
      const found = Object.entries(state?.inputRequests ?? {}).find(([, one]) => one.message === message);
      return found && { key: found[0] };
    });
  }

  query(): Promise<OperationState> {
    return this.handle.query(OPERATION_QUERY);
  }

  /** @throws WorkflowUpdateFailedError if the worker refuses the answer */
  async answer(key: string, answer: Answer, answerId: string = randomUUID()): Promise<void> {
    const input: ProvidedInput = { key, answerId, answer };
    await this.handle.executeUpdate(PROVIDE_INPUT_UPDATE, { args: [input] });
  }

  async signalAnswer(key: string, answer: Answer, answerId: string = randomUUID()): Promise<void> {
    await this.handle.signal(PROVIDE_INPUT_SIGNAL, { key, answerId, answer });
  }

  /** Expects the worker to refuse an answer. @throws Error unless it does, for one of these types */
  async expectRefusal(sending: Promise<void>, ...types: string[]): Promise<void> {
    const outcome = await sending.then(
      () => 'an accepted answer',
      (error: unknown) => {
        if (!(error instanceof WorkflowUpdateFailedError)) throw error;
        return error.cause instanceof ApplicationFailure ? error.cause.type : error.cause?.message;
      },
    );
    expectThat(types.includes(outcome ?? ''), `a refusal of type ${types.join(' or ')}`, outcome);
  }

  /** The failure or cancellation that ends the workflow. @throws Error if it completes */
  async failure(): Promise<Error> {
    const outcome = await this.handle.result().then(
      (result: unknown) => ({ result }),
      (error: unknown) => {
        if (error instanceof WorkflowFailedError && error.cause) return error.cause;
        throw error;
      },
    );
    if (outcome instanceof Error) return outcome;
    return expectThat(false, 'a workflow that fails or is canceled', outcome) as never;
  }

  async events(): Promise<temporal.api.history.v1.IHistoryEvent[]> {
    return (await this.handle.fetchHistory()).events ?? [];
  }

  /** Names of the memo fields that each event of history has written, and the workflow task that wrote them. */
  async memoWrites(): Promise<{ task: string; fields: string[] }[]> {
    return (await this.events()).flatMap(({ workflowPropertiesModifiedEventAttributes: modified }) =>
      modified
        ? {
            task: String(modified.workflowTaskCompletedEventId),
            fields: Object.keys(modified.upsertedMemo?.fields ?? {}),
          }
        : [],
    );
  }

  /** First heartbeat detail of the pending activity. */
  async heartbeat(): Promise<unknown> {
    return this.eventually('a pending activity with heartbeat details', async () => {
      const { raw } = await this.handle.describe();
      const payloads = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads;
      return payloads?.length ? (await this.decode(payloads))[0] : undefined;
    });
  }

  decode(payloads: temporal.api.common.v1.IPayload[] | null | undefined): Promise<unknown[]> {
    return decodeArrayFromPayloads(this.options.client.options.loadedDataConverter, payloads);
  }

  fits(schema: ContractSchema, value: unknown): void {
    const [problem] = contractProblems(schema, value);
    if (problem) throw new Error(`${problem}; in ${JSON.stringify(value)?.slice(0, 300)}`);
  }

  /** @param expected undefined for none */
  async expectStatus(expected: string | undefined): Promise<void> {
    const { typedSearchAttributes } = await this.handle.describe();
    const found = typedSearchAttributes.get(STATUS);
    const value = expected === undefined ? 'no' : `"${expected}" as`;
    expectThat(found === expected, `${value} search attribute ${STATUS.name}`, found);
  }

  /** Checks on the whole run. */
  async finish(): Promise<void> {
    if (this.#hasState)
      await this.check('each memo field fits its schema and its limit', () => {
        const [problem] = this.#memoProblems;
        if (problem) throw new Error(problem);
      });
    await this.check('no workflow task failed', async () => {
      for (const { workflowTaskFailedEventAttributes: failed } of await this.events())
        if (failed) throw new Error(failed.failure?.message ?? 'a workflow task failed');
    });
  }

  /** Ends a workflow that is still open. */
  async end(): Promise<void> {
    await this.handle.terminate('the conformance check has ended').catch(() => undefined);
  }
}

const NAMES = [
  ...['state', 'state-memo', 'input-memo', 'details-memo', 'partial-memo'],
  ...['start-memo', 'provided-input'],
  ...['heartbeat-report', 'activity-result', 'closing-details'],
] as const;

export type ContractSchema = (typeof NAMES)[number];

/** Compiled code is one folder deeper than the sources. */
const FOLDER = join(IS_COMPILED ? dirname(CODE_ROOT) : CODE_ROOT, 'docs/runtime-contract/schema');

const schemas = new Map<ContractSchema, JsonSchema>();

/** Schemas refer to each other by name, so each comes with all of them. */
function schemaOf(name: ContractSchema): JsonSchema {
  if (schemas.size === 0) {
    const read = (each: string) =>
      JSON.parse(readFileSync(join(FOLDER, `${each}.json`), 'utf8')) as JsonSchema;
    const $defs = Object.fromEntries(NAMES.map((each) => [each, read(each)]));
    for (const each of NAMES) schemas.set(each, { $ref: `${each}.json`, $defs });
  }
  return schemas.get(name)!;
}

/** Why a value doesn't fit a schema of the contract; empty if it does. */
export function contractProblems(name: ContractSchema, value: unknown): string[] {
  return check(schemaOf(name), value, `${name}.json`);
}

const STATE_FIELDS: [field: string, schema: ContractSchema, limitBytes: number][] = [
  [STATE_MEMO, 'state-memo', SMALL_FIELD_BYTES],
  [INPUT_MEMO, 'input-memo', INPUT_MEMO_BYTES],
  [DETAILS_MEMO, 'details-memo', UNSTORED_BYTES],
  [PARTIAL_MEMO, 'partial-memo', UNSTORED_BYTES],
];

/** Why the state's fields in a memo don't fit their schemas and limits; empty if they do. */
export function memoProblems(memo: Record<string, unknown> = {}): string[] {
  return STATE_FIELDS.filter(([field]) => memo[field] != null).flatMap(([field, schema, limitBytes]) => {
    const bytes = jsonBytes(memo[field]);
    const isLarge = bytes > limitBytes;
    return [
      ...contractProblems(schema, memo[field]),
      ...(isLarge ? [`the memo ${field}: expected at most ${limitBytes} bytes of JSON; got ${bytes}`] : []),
    ];
  });
}
