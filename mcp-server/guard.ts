/**
 * The only way from a protocol to operations: the engine's verbs with one caller's rights, start limits and audit log lines.
 *
 * To reach operations of other principals in the tenant, a caller names their workflow IDs. An operation that the caller may not
 * see gets the same error as one that doesn't exist.
 */
import type { Engine, ListFilter } from '../engine/index.js';
import { defined } from '../operations/json/defined.js';
import { LonghaulError } from '../operations/errors.js';
import type { Answer, ChildRecord, OperationRecord } from '../operations/record.js';
import type { Tool } from '../operations/tool/index.js';
import { isWorkflowIdOfPrincipal } from '../operations/token.js';
import type { Settings } from '../platform/settings/index.js';
import type { Logger } from '../platform/observe/log.js';
import { ALL_OWN, Policy, type Rights, type Verb } from './auth/policy/index.js';
import { tenantPrefixOf } from '../operations/principal.js';
import { noteWork } from '../platform/observe/work-context.js';
import type { Actor, Audit, Subject, Origin } from './audit/index.js';
import type { Caller } from './auth/caller.js';
import { CallerTools } from './auth/caller-tools.js';
import type { StartLimits } from './limits/index.js';

interface Rule {
  right: Verb;
  event: Subject['event'];
  /** Whether every call gets an audit line. Default: only the first call of its kind, and refusals. */
  isChange?: true;
}

/** A caller's actions on an operation. `start` needs the right to its tool instead. */
const VERBS = {
  read: { right: 'read', event: 'operation.read' },
  events: { right: 'read', event: 'operation.events' },
  logs: { right: 'read', event: 'operation.logs' },
  artifacts: { right: 'read', event: 'operation.artifacts' },
  artifact: { right: 'read', event: 'operation.artifact' },
  answer: { right: 'answer', event: 'operation.answer', isChange: true },
  cancel: { right: 'cancel', event: 'operation.cancel', isChange: true },
  resume: { right: 'resume', event: 'operation.resume', isChange: true },
  delete: { right: 'delete', event: 'operation.delete', isChange: true },
} as const satisfies Record<string, Rule>;

type Options<Method extends (principal: string, token: string, ...rest: never[]) => unknown> =
  Parameters<Method> extends [string, string, ...infer Others] ? Others : never;

type ResumeRequest = NonNullable<Parameters<Engine['resume']>[3]>;

type Owned = readonly [principal: string, token: string];

/** Tools of a feature beside operations. Typed loosely, because the plain contract's type imports this module. */
interface MountedTools {
  /** The right that callers need. */
  name: 'mailbox';
  tools: ReadonlyMap<string, object>;
}

export interface Access {
  /** Default: all callers have every right to their own operations. */
  policy: Policy | undefined;
  limits: StartLimits;
  /** Default: nothing is recorded. */
  audit: Audit | undefined;
  /** Default: none. */
  mounted?: readonly MountedTools[];
}

export class Guard {
  readonly tools: CallerTools;
  readonly #actor: Actor;

  constructor(
    private readonly engine: Engine,
    readonly caller: Caller,
    private readonly access: Access,
    origin: Origin,
  ) {
    const { principal, credential } = caller;
    this.tools = new CallerTools(engine.tools, () => this.rights);
    this.#actor = { principal, ...defined({ credential }), ...origin };
  }

  get rights(): Rights {
    return this.access.policy?.rightsOf(this.caller) ?? ALL_OWN;
  }

  get principal(): string {
    return this.caller.principal;
  }

  /** Temporal's time in epoch milliseconds, estimated from its last answers. */
  get heardNowMs(): number {
    return this.engine.temporal.time.nowMs;
  }

  /** Temporal's time in epoch milliseconds, at most a minute behind. */
  nowMs(): Promise<number> {
    return this.engine.temporal.nowMs();
  }

  get isConnected(): boolean {
    return this.engine.temporal.isConnected;
  }

  /** The namespace's features. @throws LonghaulError `unavailable` */
  facts(): ReturnType<Engine['temporal']['facts']> {
    return this.engine.temporal.facts();
  }

  get mountedTools(): [name: string, tool: object][] {
    return (this.access.mounted ?? []).flatMap(({ name, tools }) => (this.rights[name] ? [...tools] : []));
  }

  /** @throws LonghaulError `unknown_tool`, also for a tool that the caller may not start */
  tool(name: string, known: () => string[] = () => this.tools.keys()): Tool {
    try {
      return this.tools.find(name, known);
    } catch (error) {
      // A name that no tool has is the client's own text.
      throw this.tools.get(name) ? this.#refused({ event: 'tool.refused', tool: name }, error) : error;
    }
  }

  async start(
    tool: Tool,
    args: unknown,
    options?: Parameters<Engine['start']>[3],
  ): ReturnType<Engine['start']> {
    noteWork({ tool: tool.name });
    const record = await this.#changed(
      { event: 'operation.start', tool: tool.name, ...defined({ operation: options?.token }) },
      async () => {
        this.tools.assertMayStart(tool.name);
        return this.#admitted(() => this.engine.start(this.principal, tool, args, options));
      },
      ({ token }) => ({ operation: token }),
    );
    noteWork({ token: record.token });
    return record;
  }

  list(filter?: ListFilter): ReturnType<Engine['list']> {
    return this.#recorded({ event: 'operations.list' }, async () => {
      this.#assertMay('read', filter?.wholeTenant !== true);
      return this.engine.list(this.principal, filter, this.tools.values());
    });
  }

  read(token: string): ReturnType<Engine['read']> {
    return this.#record(token, (owned) => this.engine.read(...owned));
  }

  readLive(token: string): ReturnType<Engine['readLive']> {
    return this.#record(token, (owned) => this.engine.readLive(...owned));
  }

  readPartial(token: string): ReturnType<Engine['readPartial']> {
    return this.#record(token, (owned) => this.engine.readPartial(...owned));
  }

  /** @param record from {@link readLive} */
  readPage(record: OperationRecord, page: string): Promise<ChildRecord[]> {
    return this.engine.readPage(record, page);
  }

  async *watch(token: string, ...rest: Options<Engine['watch']>): ReturnType<Engine['watch']> {
    const watching = this.#stream('read', token, (owned) => this.engine.watch(...owned, ...rest));
    for await (const [record, owned] of watching) yield this.#noted(token, this.#named(owned, record));
  }

  async *events(token: string, ...rest: Options<Engine['events']>): ReturnType<Engine['events']> {
    const events = this.#stream('events', token, (owned) => this.engine.events(...owned, ...rest));
    for await (const [event] of events) {
      this.access.audit?.read(this.#actor, { event: VERBS.events.event, operation: token });
      yield event;
    }
  }

  /** Adds the caller's name and roles to the answer. @param idempotencyKey the caller's own ID for it */
  answer(
    token: string,
    question: Parameters<Engine['answer']>[2],
    answer: Answer,
    idempotencyKey?: string,
  ): ReturnType<Engine['answer']> {
    const by = { principal: this.principal, roles: this.rights.roles, ...defined({ idempotencyKey }) };
    return this.#do('answer', { operation: token }, async (owned) => {
      const answered = await this.engine.answer(...owned, question, answer, by);
      return { ...answered, record: this.#named(owned, answered.record) };
    });
  }

  cancel(
    token: string,
    reason?: string,
    { force }: { force?: boolean | undefined } = {},
  ): ReturnType<Engine['cancel']> {
    const by = force ? this.principal : undefined;
    return this.#do('cancel', { operation: token }, (owned) => this.engine.cancel(...owned, reason, by));
  }

  /** Resuming with other arguments also needs the right to start the tool, since the new operation carries the caller's name. */
  resume(token: string, options: ResumeRequest = {}): ReturnType<Engine['resume']> {
    const resume = async (owned: Owned) => {
      if (Object.keys(options.changes ?? {}).length > 0) {
        const { tool } = await this.engine.read(...owned);
        if (!this.rights.mayStart(tool)) throw forbidden(`start ${tool}, to resume it with other arguments`);
      }
      const started = () => this.engine.resume(...owned, this.principal, options);
      return this.#named(owned, await this.#admitted(started));
    };
    const done = ({ token: started, tool }: OperationRecord) => ({ started, tool });
    return this.#do('resume', { operation: token }, resume, done);
  }

  delete(token: string): ReturnType<Engine['delete']> {
    return this.#do('delete', { operation: token }, (owned) => this.engine.delete(...owned));
  }

  artifacts(token: string): ReturnType<Engine['artifacts']> {
    return this.#do('artifacts', { operation: token }, (owned) => this.engine.artifacts(...owned));
  }

  artifact(token: string, artifact: string): ReturnType<Engine['artifact']> {
    return this.#do('artifact', { operation: token, artifact }, (owned) =>
      this.engine.artifact(...owned, artifact),
    );
  }

  readArtifact(token: string, artifact: string, limitBytes: number): ReturnType<Engine['readArtifact']> {
    return this.#do('artifact', { operation: token, artifact }, (owned) =>
      this.engine.readArtifact(...owned, artifact, limitBytes),
    );
  }

  logs(token: string, ...rest: Options<Engine['logs']>): ReturnType<Engine['logs']> {
    return this.#do('logs', { operation: token }, (owned) => this.engine.logs(...owned, ...rest));
  }

  logText(token: string, ...rest: Options<Engine['logText']>): ReturnType<Engine['logText']> {
    return this.#do('logs', { operation: token }, (owned) => this.engine.logText(...owned, ...rest));
  }

  /** @param done audit fields that are known only afterwards */
  #do<Result>(
    verb: keyof typeof VERBS,
    { operation, ...about }: Pick<Subject, 'artifact'> & { operation: string },
    run: (owned: Owned) => Promise<Result>,
    done?: (result: Result) => Partial<Subject>,
  ): Promise<Result> {
    const { right, event, isChange }: Rule = VERBS[verb];
    const subject = { event, operation, ...about };
    const action = async () => run(await this.#owned(right, operation));
    return isChange ? this.#changed(subject, action, done) : this.#recorded(subject, action);
  }

  async #record(token: string, run: (owned: Owned) => Promise<OperationRecord>): Promise<OperationRecord> {
    try {
      const owned = await this.#owned(VERBS.read.right, token);
      return this.#noted(token, this.#named(owned, await run(owned)));
    } catch (error) {
      throw this.#refused({ event: VERBS.read.event, operation: token }, error);
    }
  }

  /** Ends with an error once the caller loses the right. */
  async *#stream<Item>(
    verb: 'read' | 'events',
    token: string,
    follow: (owned: Owned) => AsyncGenerator<Item>,
  ): AsyncGenerator<[Item, Owned]> {
    const { right, event } = VERBS[verb];
    try {
      const owned = await this.#owned(right, token);
      for await (const item of follow(owned)) {
        this.#assertMay(right, owned[0] === this.principal);
        yield [item, owned];
      }
    } catch (error) {
      throw this.#refused({ event, operation: token }, error);
    }
  }

  #changed<Result>(
    subject: Subject,
    action: () => Promise<Result>,
    done?: (result: Result) => Partial<Subject>,
  ): Promise<Result> {
    return this.access.audit?.change(this.#actor, subject, action, done) ?? action();
  }

  async #recorded<Result>(subject: Subject, action: () => Promise<Result>): Promise<Result> {
    try {
      const result = await action();
      this.access.audit?.read(this.#actor, subject);
      return result;
    } catch (error) {
      throw this.#refused(subject, error);
    }
  }

  /** Records that a read was refused. @returns the error */
  #refused(subject: Subject, error: unknown): unknown {
    this.access.audit?.refusedRead(this.#actor, subject, error);
    return error;
  }

  /** Records the first read of a closed operation, because it delivers the result. */
  #noted<Named extends OperationRecord>(token: string, record: Named): Named {
    const { closedAt, tool } = record;
    if (closedAt !== undefined)
      this.access.audit?.read(this.#actor, { event: 'operation.result', operation: token, tool });
    return record;
  }

  /** @throws RateLimited beyond the caller's limits */
  async #admitted<T>(start: () => Promise<T>): Promise<T> {
    const takeBack = await this.access.limits.admit(this.principal);
    try {
      return await start();
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  /**
   * The operation that a token names, if the caller has the right. With rights to the tenant's operations, the token may also be
   * the workflow ID of another principal's operation.
   *
   * @throws LonghaulError `forbidden`, before any lookup for the caller's own operations
   */
  async #owned(right: Verb, token: string): Promise<Owned> {
    noteWork({ token });
    const mayName = this.rights.tenant.size > 0 && isWorkflowIdOfPrincipal(token);
    const owner = mayName ? await this.engine.ownerOf(token) : undefined;
    const isOfTenant = owner?.principal.startsWith(tenantPrefixOf(this.principal)) === true;
    const owned = isOfTenant ? ([owner.principal, owner.token] as const) : ([this.principal, token] as const);
    this.#assertMay(right, owned[0] === this.principal);
    return owned;
  }

  #assertMay(right: Verb, isOwn: boolean): void {
    const { own, tenant } = this.rights;
    if (tenant.has(right) || (isOwn && own.has(right))) return;
    throw forbidden(`${right} ${isOwn ? 'operations' : "operations of others of the caller's tenant"}`);
  }

  /** The record with the token that the caller knows. */
  #named<Named extends OperationRecord>([principal]: Owned, record: Named): Named {
    if (principal === this.principal) return record;
    const named = (token: string) => this.engine.workflowIdOf(principal, token);
    const { resumedFrom } = record;
    return {
      ...record,
      token: named(record.token),
      ...(resumedFrom === undefined ? {} : { resumedFrom: named(resumedFrom) }),
    };
  }
}

/** @throws SettingsError for a policy that can't be used */
export function policyOf({ policy }: Pick<Settings, 'policy'>, logger: Logger): Policy | undefined {
  return policy === undefined ? undefined : new Policy(policy, logger);
}

function forbidden(what: string): LonghaulError {
  return new LonghaulError('forbidden', `expected a role that may ${what}; the caller has none`);
}
