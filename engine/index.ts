/** The engine: operations over Temporal's client, by principal. It doesn't depend on MCP, and caches only what Temporal holds. */
import type { LogPage, LogQuery } from '../operations/wire/log-page.js';
import type { Answer, ChildRecord, OperationRecord } from '../operations/record.js';
import { LonghaulError } from '../operations/errors.js';
import { digestOf } from '../operations/token.js';
import type { Tool } from '../operations/tool/index.js';
import { fixedEstimateSeconds, matchVariant } from '../operations/tool/estimate.js';
import type { DataFolders } from '../platform/storage/data-folders.js';
import type { Storage } from '../platform/storage/index.js';
import type { Tools } from '../platform/project/tools.js';
import { Signer } from '../platform/temporal/signer.js';
import { answerHeader, identified, signed, type GivenAnswer } from './answer/claims.js';
import {
  answerOperation,
  withoutQuestion,
  type AnsweredOperation,
  type SentReceipt,
} from './answer/index.js';
import { assertSize, checkArguments, sizeOfCall } from './start/arguments.js';
import { listArtifacts, openArtifact, readArtifact, type StoredFile } from './read/artifacts.js';
import { awaitCancellation, cancelOperation, forceCancel } from './end/cancelling.js';
import { deleteOperation } from './end/delete.js';
import { Estimates } from './start/estimates.js';
import { streamEvents, type EventOptions, type OperationEvent } from './events/index.js';
import { listOperations, type OperationPage } from './list/index.js';
import { answerExternal } from './external/answer.js';
import { listServiceTools } from './external/list-service-tools.js';
import { RunTokens } from './external/run-tokens.js';
import { Records } from './read/records.js';
import { ownerOf, type Owner } from './read/start-memo.js';
import { readPage } from './read/live.js';
import { selectLog, type SelectedLog, readLogText, type LogText } from './logs/select.js';
import { resumeOperation, type ResumeOptions } from './start/resume.js';
import {
  findSessionOperations,
  type SessionOperation,
  type SessionPeriod,
  type SessionScope,
} from './watch/session-operations.js';
import { startOperation } from './start/index.js';
import type { StartOptions } from './start/names.js';
import type { TemporalClient } from './temporal/client.js';
import type { ListFilter } from './list/visibility-query.js';
import type { WatchedRecord, Watches, WatchOptions } from './watch/index.js';

export type { AnsweredOperation } from './answer/index.js';
export type { StoredFile } from './read/artifacts.js';
export type { EventPosition, OperationEvent } from './events/index.js';
export type { OperationPage } from './list/index.js';
export type { ListFilter } from './list/visibility-query.js';
export type { SessionPeriod } from './watch/session-operations.js';
export type { StartOptions } from './start/names.js';
export { TemporalClient } from './temporal/client.js';
export type { WatchedRecord } from './watch/index.js';

export class Engine {
  readonly #estimates: Estimates;
  readonly #signer: Signer;
  readonly #runTokens: RunTokens;
  readonly #connected: Records;
  /** By namespace, without the connected one. */
  readonly #namespaces = new Map<string, Records>();

  constructor(
    readonly temporal: TemporalClient,
    readonly tools: Tools,
    private readonly secret: Buffer,
    private readonly storage: Storage,
    /** Folders whose files callers may name. */
    private readonly dataFolders: DataFolders = { folders: [], privatePaths: [] },
    /** Whether new operations accept unsigned answers. */
    private readonly operatorAnswers = true,
  ) {
    this.#signer = new Signer(secret);
    this.#runTokens = new RunTokens(secret, tools);
    this.#estimates = new Estimates(temporal);
    this.#connected = new Records(temporal, this.#signer, tools);
    tools.serveServices((service) => listServiceTools(temporal, service));
    void temporal.whenConnected.then(() => this.#estimates.preload(tools.values()));
  }

  get watches(): Watches {
    return this.#connected.watches;
  }

  /** Numbers of watched operations and of their open long polls. */
  get watchCounts(): { operations: number; polls: number } {
    const all = [this.#connected, ...this.#namespaces.values()].map(({ watches }) => watches.counts);
    return {
      operations: all.reduce((sum, { operations }) => sum + operations, 0),
      polls: all.reduce((sum, { polls }) => sum + polls, 0),
    };
  }

  /** @param known names listed in the error message. Default: all tools @throws LonghaulError `unknown_tool` */
  tool(name: string, known: () => string[] = () => this.tools.keys()): Tool {
    return this.tools.find(name, known);
  }

  /**
   * Starts an operation. A single StartWorkflow is the only check for duplicates: the same arguments under the same token or key return the
   * existing operation.
   *
   * @returns the record, once the operation is durable
   * @throws LonghaulError `invalid_arguments`, `too_large`, `conflict`, `expired`, `busy`, `unavailable`
   */
  async start(
    principal: string,
    tool: Tool,
    args: unknown,
    options: StartOptions = {},
  ): Promise<OperationRecord> {
    const checked = checkArguments(tool, args);
    const argumentsDigest = digestOf(tool.name, checked, this.secret);
    const { estimate, variant } = matchVariant(tool.estimate, checked);
    const size = await sizeOfCall(estimate, checked, this.dataFolders);
    const learnedSeconds = this.#estimates.of(tool, { principal, argumentsDigest, size, variant, estimate });
    const seconds = learnedSeconds ?? fixedEstimateSeconds(estimate, size);
    return startOperation(this.#of(tool.external?.namespace), this.secret, {
      principal,
      tool,
      args: checked,
      argumentsDigest,
      size,
      variant,
      // More digits would suggest a precision that estimates lack.
      estimateSeconds: Math.max(0.1, Math.round(seconds * 10) / 10),
      options,
      operatorAnswers: this.operatorAnswers,
    });
  }

  /** Reads an operation; needs no worker. @throws LonghaulError `not_found`, `unavailable` */
  async read(principal: string, token: string): Promise<OperationRecord> {
    const { located, records } = this.#locate(principal, token);
    const record = await records.read(principal, token, located);
    const { error } = record;
    const isRetryable =
      error?.type !== undefined && this.tools.get(record.tool)?.retryableErrors.includes(error.type);
    return isRetryable ? { ...record, error: { ...error, retryable: true } } : record;
  }

  /**
   * Reads an operation with large partial results and children, which only its workflow holds while it's open. Without a worker, falls back
   * to {@link read} with `live: false`.
   *
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async readLive(principal: string, token: string): Promise<OperationRecord> {
    const { records, workflowId, read } = this.#locate(principal, token);
    return records.live.complete(await read(), workflowId);
  }

  /** Reads an operation with a partial result of any size, without children. @throws LonghaulError `not_found`, `unavailable` */
  async readPartial(principal: string, token: string): Promise<OperationRecord> {
    const { records, workflowId, read } = this.#locate(principal, token);
    return records.live.completePartial(await read(), workflowId);
  }

  /**
   * Reads the children of a page: a range of a pipeline's items.
   *
   * @param record from {@link readLive}
   * @param page e.g. `test[0-249]`
   * @throws LonghaulError `invalid_arguments` if there is no such page, `unavailable`; `internal` if it is lost
   */
  readPage(record: OperationRecord, page: string): Promise<ChildRecord[]> {
    return readPage(this.#connected.live, record, page);
  }

  /** Yields the operation now and at each change, until it closes or the signal fires. */
  watch(principal: string, token: string, options: WatchOptions): AsyncGenerator<WatchedRecord> {
    const { records, workflowId, read } = this.#locate(principal, token);
    return records.watches.watch(workflowId, read, options);
  }

  /**
   * Yields an operation's states, input requests and log lines after a position, each once and in order, and its progress. Ends after the
   * result, or when the signal fires.
   *
   * @throws LonghaulError `not_found`, `expired`
   */
  events(principal: string, token: string, options: EventOptions): AsyncGenerator<OperationEvent> {
    const { records, temporal, workflowId, read } = this.#locate(principal, token);
    const { watches, live } = records;
    const readLive = (record: OperationRecord) => live.complete(record, workflowId);
    const mayHaveSteps = (tool: string) => this.tools.get(tool)?.isPipeline !== false;
    const { storage } = this;
    return streamEvents({ temporal, storage, watches, workflowId, read, readLive, mayHaveSteps }, options);
  }

  /**
   * Answers an input request. Only one of several answers is accepted, with or without a worker; repeating it gets the same receipt.
   *
   * @param principal owner of the operation
   * @param question its key, or a function that finds it in the operation's record
   * @param answerer.principal Default: the owner
   * @param answerer.idempotencyKey the answerer's own ID for the answer. Default: an answerer's equal answers are the same
   * @returns `accepted` once the operation has the answer; `queued` if no worker was available to take it; the record with the answer
   * @throws LonghaulError `wrong_state` for a key that isn't open, or if another answer counts; `forbidden` if the question is for others,
   *   `invalid_answer`, `not_found`, `unavailable`
   */
  async answer(
    principal: string,
    token: string,
    question: string | ((record: OperationRecord) => string),
    answer: Answer,
    answerer: { principal?: string; roles?: readonly string[]; idempotencyKey?: string } = {},
  ): Promise<AnsweredOperation> {
    const { records, temporal, workflowId, read } = this.#locate(principal, token);
    const roles = answerer.roles?.length ? { roles: [...answerer.roles] } : {};
    const by = { principal: answerer.principal ?? principal, ...roles };
    assertSize('answer', answer);
    const record = await read();
    const key = typeof question === 'string' ? question : question(record);
    const { tool, runId } = record;
    const external = this.tools.get(tool)?.external;
    const mapping = external?.question;
    const given: GivenAnswer = { key, answer, by, idempotencyKey: answerer.idempotencyKey };
    const input = identified(this.#signer, workflowId, given);
    const answered = async (sent: SentReceipt): Promise<AnsweredOperation> => ({
      ...{ id: input.answerId, ...sent },
      record: sent.state === 'accepted' ? withoutQuestion(record, key) : await read(),
    });
    // Workers that fulfil the runtime contract ask by memo, whatever the file maps.
    if (mapping && !(await records.keepsState(workflowId))) {
      const expire = () => records.external.expire(runId);
      const readNow = () => {
        expire();
        return read();
      };
      const operation = { temporal, workflowId, read: readNow, mapping, signer: this.#signer };
      const header = answerHeader(this.#signer, workflowId, input, by);
      const state = await answerExternal(operation, answer, header).finally(expire);
      const wasQueued = mapping.answer.by === 'signal' && answer.action !== 'cancel';
      return answered({ state, wasQueued });
    }
    const claimed = signed(this.#signer, workflowId, input, { by, areAllSigned: !this.operatorAnswers });
    const operation = { temporal, workflowId, read, isExternal: external !== undefined };
    return answered(await answerOperation(operation, record, claimed, by));
  }

  /**
   * Requests cancellation of an open operation.
   *
   * @param forcedBy who ends it at once, without cleanups. Default: it cleans up
   * @returns whether it was open
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async cancel(principal: string, token: string, reason?: string, forcedBy?: string): Promise<boolean> {
    const operation = this.#locate(principal, token);
    if (forcedBy !== undefined) return forceCancel(operation, forcedBy, reason);
    const signalOf = (tool: string) => this.tools.get(tool)?.external?.cancelSignal;
    return cancelOperation(operation, reason, signalOf);
  }

  /**
   * Resumes a closed operation where it stopped, as a new operation. Repeating the request returns the same new operation. If the old one
   * is being cancelled, waits for its end, at most 30 s.
   *
   * @param by principal that resumes it
   * @param options.from step to resume from, e.g. `build/2`. Default: after the last finished step
   * @param options.changes changed arguments, for the steps that still run
   * @param options.signal ends the wait
   * @throws LonghaulError `wrong_state` if it is open, has completed, or can't be resumed; `invalid_arguments` for an unknown step or
   *   invalid changes; `conflict` if it was already resumed with other options; `expired`, `not_found`; `unavailable`, also while it is
   *   still being cancelled; `internal` if its list of steps is no longer in storage
   */
  async resume(
    principal: string,
    token: string,
    by: string,
    { signal, ...options }: ResumeOptions & { signal?: AbortSignal } = {},
  ): Promise<OperationRecord> {
    const record = await awaitCancellation(
      await this.read(principal, token),
      (end) => this.watch(principal, token, { signal: end, onlyEnd: true }),
      signal,
    );
    if (this.#runTokens.locate(principal, token).run)
      throw new LonghaulError('wrong_state', `"${record.tool}" can't be resumed; call it again`);
    return resumeOperation(this.#connected, this.secret, record, by, options);
  }

  /**
   * Deletes a closed operation for good: its Temporal histories, its child workflows, and their data in storage. From then on, every
   * process answers `not_found`, and the key and token are free again. Repeat an interrupted delete to complete it.
   *
   * @throws LonghaulError `wrong_state` while it is open, or while an operation that was resumed from it exists; `not_found`, `unavailable`
   */
  async delete(principal: string, token: string): Promise<void> {
    if (this.#runTokens.locate(principal, token).run)
      throw new LonghaulError(
        'wrong_state',
        "its workflow has an ID of its own, which others may use: delete it with Temporal's own tools",
      );
    return deleteOperation(this.temporal, this.secret, principal, token);
  }

  /** Reads an artifact of an operation. @throws LonghaulError `not_found`, `too_large` over the limit, `unavailable` */
  async readArtifact(principal: string, token: string, name: string, limitBytes: number): Promise<Buffer> {
    await this.read(principal, token);
    return readArtifact(this.storage, this.workflowIdOf(principal, token), name, limitBytes);
  }

  /** Lists the artifacts of an operation, sorted by name. @throws LonghaulError `not_found`, `unavailable` */
  async artifacts(principal: string, token: string): Promise<{ name: string; bytes: number }[]> {
    await this.read(principal, token);
    return listArtifacts(this.storage, this.workflowIdOf(principal, token));
  }

  /** Opens an artifact of an operation for streaming. @throws LonghaulError `not_found`, `unavailable` */
  async artifact(principal: string, token: string, name: string): Promise<StoredFile> {
    await this.read(principal, token);
    return openArtifact(this.storage, this.workflowIdOf(principal, token), name);
  }

  /** Ends overdue operations of any principal. @returns how many @throws LonghaulError `unavailable` */
  sweepOverdue(): Promise<number> {
    return this.#connected.overdue.sweep(this.tools);
  }

  /**
   * Lists the principal's operations, latest first. Temporal's lists lag by up to seconds.
   *
   * @param tools whose adopted runs to list too, if their files have a filter. Default: all
   * @throws LonghaulError `unavailable`, also when this Temporal lacks Longhaul's search attributes; `invalid_arguments` for a cursor of
   *   another list
   */
  list(
    principal: string,
    filter: ListFilter = {},
    tools: Iterable<Tool> = this.tools.values(),
  ): Promise<OperationPage> {
    return listOperations(this.temporal, this.secret, principal, filter, tools);
  }

  /** Finds operations of many sessions at once: see {@link findSessionOperations}. */
  sessionOperations(scopes: readonly SessionScope[], period: SessionPeriod): Promise<SessionOperation[]> {
    return findSessionOperations(this.temporal, scopes, period, this.secret);
  }

  /**
   * Reads a page of a step's log or the operation's own, even while it grows.
   *
   * @throws LonghaulError `invalid_arguments`, `not_found` for an unknown operation or log, `expired`, `unavailable`
   */
  async logs(principal: string, token: string, query: LogQuery): Promise<LogPage> {
    const { record, readPage } = await this.#log(principal, token, query);
    const page = await readPage(query);
    // Somebody may just have deleted a closed operation with an empty log.
    if (page.totalBytes === 0 && record.closedAt) await this.read(principal, token);
    return page;
  }

  /** Reads a log as text: many pages, or one if the query has a `limit`. @throws LonghaulError as {@link logs} */
  async logText(principal: string, token: string, query: LogQuery): Promise<LogText> {
    const { record, readPage } = await this.#log(principal, token, query);
    const log = await readLogText(readPage, query);
    if (log.text === '' && record.closedAt) await this.read(principal, token);
    return log;
  }

  #log(principal: string, token: string, query: LogQuery): Promise<SelectedLog> {
    const { storage, tools } = this;
    const { live } = this.#connected;
    const { workflowId, read } = this.#locate(principal, token);
    const readLive = () => this.readLive(principal, token);
    return selectLog({ storage, tools, live, workflowId, read, readLive }, query);
  }

  /** Finds an operation's owner by its workflow ID, the name that other principals use. @throws LonghaulError `unavailable` */
  ownerOf(workflowId: string): Promise<Owner | undefined> {
    return ownerOf(this.temporal, this.secret, workflowId);
  }

  workflowIdOf(principal: string, token: string): string {
    return this.#runTokens.locate(principal, token).workflowId;
  }

  /** An operation's workflow, and the records of its namespace. @throws LonghaulError `not_found` */
  #locate(principal: string, token: string) {
    const located = this.#runTokens.locate(principal, token);
    const { workflowId, namespace } = located;
    const records = this.#of(namespace);
    return {
      located,
      workflowId,
      records,
      temporal: records.temporal,
      read: () => this.read(principal, token),
    };
  }

  #of(namespace: string | undefined): Records {
    const temporal = this.temporal.inNamespace(namespace);
    if (namespace === undefined || temporal === this.temporal) return this.#connected;
    let records = this.#namespaces.get(namespace);
    if (!records) {
      records = new Records(temporal, this.#signer, this.tools);
      this.#namespaces.set(namespace, records);
    }
    return records;
  }
}
