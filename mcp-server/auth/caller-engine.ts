/**
 * The engine for one caller: the engine's methods without the principal, within the rights of the caller. The protocols have no
 * other way to operations, so that what a caller may do is decided here alone.
 *
 * Operations of other principals of the tenant have their workflow IDs as tokens: what nobody may see is looked up and
 * reported like what doesn't exist.
 */
import type { Engine } from '../../engine/index.js';
import { defined } from '../../operations/defined.js';
import { LonghaulError } from '../../operations/errors.js';
import type { Answer, OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool.js';
import { isWorkflowIdOfPrincipal } from '../../operations/token.js';
import type { Settings } from '../../platform/config.js';
import type { Logger } from '../../platform/log.js';
import { ALL_OWN, Policy, type Rights, type Verb } from '../../platform/policy/index.js';
import { tenantPrefixOf } from '../../platform/principal.js';
import { noteWork } from '../../platform/work-context.js';
import type { StartLimits } from '../limits/index.js';
import type { Origin } from '../audit/origin.js';
import type { Caller } from './caller.js';
import { CallerTools } from './caller-tools.js';

/** Parameters of an engine's method after the principal. */
type Rest<Method extends (principal: string, ...rest: never[]) => unknown> =
  Parameters<Method> extends [string, ...infer Others] ? Others : never;
/** Parameters of an engine's method after the principal and the token. */
type Options<Method extends (principal: string, token: string, ...rest: never[]) => unknown> =
  Parameters<Method> extends [string, string, ...infer Others] ? Others : never;

type ResumeRequest = NonNullable<Parameters<Engine['resume']>[3]>;

/** An operation as the engine names it. */
interface Owned {
  principal: string;
  token: string;
  isOwn: boolean;
}

/** Rules for callers' requests. */
export interface Access {
  /** Default: everyone may do everything with operations of their own. */
  policy: Policy | undefined;
  limits: StartLimits;
}

export class CallerEngine {
  readonly tools: CallerTools;

  constructor(
    private readonly engine: Engine,
    readonly caller: Caller,
    private readonly access: Access,
  ) {
    this.tools = new CallerTools(engine.tools, () => this.rights);
  }

  /** The caller's rights, as of now. */
  get rights(): Rights {
    return this.access.policy?.rightsOf(this.caller) ?? ALL_OWN;
  }

  get principal(): string {
    return this.caller.principal;
  }

  get temporal(): Engine['temporal'] {
    return this.engine.temporal;
  }

  /** @throws LonghaulError `forbidden` */
  get mailbox(): Engine['mailbox'] {
    if (!this.rights.mailbox) throw forbidden('use the mailbox');
    return this.engine.mailbox;
  }

  tool(name: string, known: () => string[] = () => this.tools.keys()): Tool {
    return this.tools.find(name, known);
  }

  async start(...[tool, ...rest]: Rest<Engine['start']>): ReturnType<Engine['start']> {
    noteWork({ tool: tool.name });
    this.tools.assertMayStart(tool.name);
    const record = await this.#admitted(() => this.engine.start(this.principal, tool, ...rest));
    noteWork({ token: record.token });
    return record;
  }

  async read(token: string): ReturnType<Engine['read']> {
    const owned = await this.#owned('read', token);
    return this.#named(owned, await this.engine.read(owned.principal, owned.token));
  }

  async readLive(token: string): ReturnType<Engine['readLive']> {
    const owned = await this.#owned('read', token);
    return this.#named(owned, await this.engine.readLive(owned.principal, owned.token));
  }

  async readPage(token: string, ...rest: Options<Engine['readPage']>): ReturnType<Engine['readPage']> {
    const owned = await this.#owned('read', token);
    const { record, children } = await this.engine.readPage(owned.principal, owned.token, ...rest);
    return { record: this.#named(owned, record), children };
  }

  async *watch(token: string, ...rest: Options<Engine['watch']>): ReturnType<Engine['watch']> {
    const owned = await this.#owned('read', token);
    for await (const record of this.engine.watch(owned.principal, owned.token, ...rest)) {
      this.#assertMay('read', owned.isOwn);
      yield this.#named(owned, record);
    }
  }

  async *events(token: string, ...rest: Options<Engine['events']>): ReturnType<Engine['events']> {
    const owned = await this.#owned('read', token);
    for await (const event of this.engine.events(owned.principal, owned.token, ...rest)) {
      this.#assertMay('read', owned.isOwn);
      yield event;
    }
  }

  /** The answer carries the caller's name and roles. @param idempotencyKey the caller's own ID for it */
  async answer(
    token: string,
    key: string,
    answer: Answer,
    idempotencyKey?: string,
  ): ReturnType<Engine['answer']> {
    const owned = await this.#owned('answer', token);
    const by = { principal: this.principal, roles: this.rights.roles, ...defined({ idempotencyKey }) };
    return this.engine.answer(owned.principal, owned.token, key, answer, by);
  }

  async cancel(token: string, ...rest: Options<Engine['cancel']>): ReturnType<Engine['cancel']> {
    const owned = await this.#owned('cancel', token);
    return this.engine.cancel(owned.principal, owned.token, ...rest);
  }

  /**
   * A resume with other arguments is a start of the tool too: the caller has to have that right, and the new operation carries
   * their name.
   */
  async resume(token: string, options: ResumeRequest = {}): ReturnType<Engine['resume']> {
    const owned = await this.#owned('resume', token);
    if (Object.keys(options.changes ?? {}).length > 0) {
      const { tool } = await this.engine.read(owned.principal, owned.token);
      if (!this.rights.mayStart(tool)) throw forbidden(`start ${tool}, to resume it with other arguments`);
    }
    const record = await this.#admitted(() =>
      this.engine.resume(owned.principal, owned.token, this.principal, options),
    );
    return this.#named(owned, record);
  }

  async delete(token: string): ReturnType<Engine['delete']> {
    const owned = await this.#owned('delete', token);
    return this.engine.delete(owned.principal, owned.token);
  }

  async readArtifact(
    token: string,
    ...rest: Options<Engine['readArtifact']>
  ): ReturnType<Engine['readArtifact']> {
    const owned = await this.#owned('read', token);
    return this.engine.readArtifact(owned.principal, owned.token, ...rest);
  }

  async artifacts(token: string): ReturnType<Engine['artifacts']> {
    const owned = await this.#owned('read', token);
    return this.engine.artifacts(owned.principal, owned.token);
  }

  async artifact(token: string, ...rest: Options<Engine['artifact']>): ReturnType<Engine['artifact']> {
    const owned = await this.#owned('read', token);
    return this.engine.artifact(owned.principal, owned.token, ...rest);
  }

  async list(...[filter]: Rest<Engine['list']>): ReturnType<Engine['list']> {
    this.#assertMay('read', filter?.wholeTenant !== true);
    return this.engine.list(this.principal, filter, this.tools.values());
  }

  async logs(token: string, ...rest: Options<Engine['logs']>): ReturnType<Engine['logs']> {
    const owned = await this.#owned('read', token);
    return this.engine.logs(owned.principal, owned.token, ...rest);
  }

  async logText(token: string, ...rest: Options<Engine['logText']>): ReturnType<Engine['logText']> {
    const owned = await this.#owned('read', token);
    return this.engine.logText(owned.principal, owned.token, ...rest);
  }

  /** Starts an operation within the caller's limits. @throws RateLimited */
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
   * The operation that a token names, and the right to a verb for it. A workflow ID names an operation of another principal of
   * the tenant, if the caller may do anything with those.
   *
   * @throws LonghaulError `forbidden`, before anything is looked up for the caller's own operations
   */
  async #owned(verb: Verb, token: string): Promise<Owned> {
    noteWork({ token });
    const owner =
      this.rights.tenant.size > 0 && isWorkflowIdOfPrincipal(token)
        ? await this.engine.ownerOf(token)
        : undefined;
    const isOfTenant = owner?.principal.startsWith(tenantPrefixOf(this.principal)) === true;
    const isOwn = !isOfTenant || owner.principal === this.principal;
    this.#assertMay(verb, isOwn);
    return isOfTenant ? { ...owner, isOwn } : { principal: this.principal, token, isOwn };
  }

  #assertMay(verb: Verb, isOwn: boolean): void {
    const { own, tenant } = this.rights;
    if (tenant.has(verb) || (isOwn && own.has(verb))) return;
    throw forbidden(`${verb} ${isOwn ? 'operations' : "operations of others of the caller's tenant"}`);
  }

  /** The record under the token that the caller knows it by. */
  #named<Named extends OperationRecord>({ principal, isOwn }: Owned, record: Named): Named {
    if (isOwn) return record;
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

/** The engines of a process's callers. */
export class CallerEngines {
  constructor(
    protected readonly engine: Engine,
    protected readonly access: Access,
  ) {}

  /** @param _origin of the caller's request, for the audit log */
  of(caller: Caller, _origin: () => Origin): CallerEngine {
    return new CallerEngine(this.engine, caller, this.access);
  }
}

function forbidden(what: string): LonghaulError {
  return new LonghaulError('forbidden', `expected a role that may ${what}; the caller has none`);
}
