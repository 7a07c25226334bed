/** A server process's audit log: which actions and refusals get a line, and with which fields. */
import { OAuthError } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import type { Context } from 'hono';
import { LonghaulError } from '../../operations/errors.js';
import { isToken } from '../../operations/token.js';
import { AuditLog, type AuditCredential, type AuditEntry } from './log/index.js';
import type { Settings } from '../../platform/settings/index.js';
import { hasCredential } from '../../platform/observe/credential-form.js';
import { networkOf, clientAddress } from '../../platform/http/client-address.js';
import type { Logger } from '../../platform/observe/log.js';

/** Where a request comes from. */
export type Origin = Pick<AuditEntry, 'protocol' | 'transport' | 'address'>;

export const STDIO: Origin = { protocol: 'mcp', transport: 'stdio' };

/** MCP revisions are dates. The header is the client's own text. */
const REVISION = /^\d{4}-\d\d-\d\d$/;

export function originOf(c: Context): Origin {
  const revision = c.req.header('mcp-protocol-version') ?? '';
  const isMcp = c.req.path === '/mcp';
  return {
    protocol: isMcp ? `mcp${REVISION.test(revision) ? ` ${revision}` : ''}` : 'http-jobs',
    transport: 'http',
    // Empty once the connection has ended.
    address: clientAddress(c) || undefined,
  };
}

/** Number of remembered reads, so repeated polls get one line. */
const MOST_READS = 10_000;
/** Periods in which a caller's refusals get a limited number of lines: anybody may send wrong credentials for days. */
const REFUSALS_PERIOD_MS = 1_000;
const AUTHENTICATIONS_PERIOD_MS = 60_000;
const KEY_ID = /^Bearer +lh_([0-9a-f]{12})_/i;

/** Who acts, and from where. */
export type Actor = Origin & { principal: string; credential?: AuditCredential };

/** The subject of a line. */
export type Subject = Pick<AuditEntry, 'event' | 'operation' | 'started' | 'tool' | 'artifact'>;

export class Audit {
  readonly #reads = new LRUCache<string, true>({ max: MOST_READS });
  readonly #refusals: Refusals;
  readonly #refusedAuthentications: Refusals;

  private constructor(
    private readonly log: AuditLog,
    private readonly isRequired: boolean,
  ) {
    this.#refusals = new Refusals(log, REFUSALS_PERIOD_MS);
    this.#refusedAuthentications = new Refusals(log, AUTHENTICATIONS_PERIOD_MS);
  }

  /** Undefined when the settings name no folder. @throws SettingsError when the folder can't be written */
  static open(settings: Settings, logger: Logger): Audit | undefined {
    const { auditLog, auditRequired } = settings;
    return auditLog === undefined ? undefined : new Audit(new AuditLog(auditLog, logger), auditRequired);
  }

  /**
   * Records an action that changes something, once it is done or refused.
   *
   * @param done fields that are known only afterwards, such as the token of a started operation
   * @throws LonghaulError `unavailable` when an action that must be recorded can't be; what the action throws
   */
  async change<Result>(
    actor: Actor,
    subject: Subject,
    action: () => Promise<Result>,
    done: (result: Result) => Partial<Subject> = () => ({}),
  ): Promise<Result> {
    const entry = entryOf(actor, subject);
    const attempt = this.isRequired ? await this.#attempt(entry) : undefined;
    try {
      const result = await action();
      this.log.append({ ...entry, attempt, ...safe(done(result)), outcome: 'ok' });
      return result;
    } catch (error) {
      const refused = { ...entry, attempt, outcome: kindOf(error) };
      // After `attempted`, the outcome always gets a line.
      if (attempt === undefined) this.#refusals.add(actor.principal, refused);
      else this.log.append(refused);
      throw error;
    }
  }

  /** Records a successful read: once per kind, caller and operation in this process. */
  read(actor: Actor, subject: Subject): void {
    const entry = entryOf(actor, subject);
    if (this.#isNewRead(entry)) this.log.append({ ...entry, outcome: 'ok' });
  }

  refusedRead(actor: Actor, subject: Subject, error: unknown): void {
    const entry = { ...entryOf(actor, subject), outcome: kindOf(error) };
    if (this.#isNewRead(entry)) this.#refusals.add(actor.principal, entry);
  }

  #isNewRead(entry: AuditEntry): boolean {
    const key = JSON.stringify(entry);
    const isNew = !this.#reads.has(key);
    this.#reads.set(key, true);
    return isNew;
  }

  /** Records a request without a valid credential. @param authorization its header; only a key's ID is recorded */
  refusedAuthentication(origin: Origin, authorization: string | undefined, error: unknown): void {
    const [, id] = KEY_ID.exec(authorization ?? '') ?? [];
    const outcome = authorization === undefined ? 'no_credential' : codeOf(error);
    this.#refusedAuthentications.add(`${outcome} ${networkOf(origin.address ?? '')}`, {
      event: 'authentication.refused',
      credential: id === undefined ? undefined : { kind: 'key', id },
      ...origin,
      outcome,
    });
  }

  async close(): Promise<void> {
    this.#refusals.flush();
    this.#refusedAuthentications.flush();
    await this.log.close();
  }

  async #attempt(entry: AuditEntry): Promise<number | undefined> {
    const sequence = this.log.append({ ...entry, outcome: 'attempted' });
    try {
      if (sequence === undefined) throw new Error('the line was dropped');
      await this.log.synced();
      return sequence;
    } catch (error) {
      this.log.append({ ...entry, outcome: 'unavailable', attempt: sequence });
      throw new LonghaulError(
        'unavailable',
        'the audit log cannot be written, and this server changes nothing that it cannot record; try again later',
        { cause: error },
      );
    }
  }
}

function entryOf(actor: Actor, { event, ...about }: Subject): AuditEntry {
  return { event, ...actor, ...safe(about) };
}

/** Drops impossible tokens and credentials: clients choose this text. */
function safe({ operation, artifact, ...fields }: Partial<Subject>): Partial<Subject> {
  const isNamed = operation !== undefined && isToken(operation) && !hasCredential(operation);
  const isFile = artifact !== undefined && artifact.length <= 200 && !hasCredential(artifact);
  return { ...fields, ...(isNamed ? { operation } : {}), ...(isFile ? { artifact } : {}) };
}

/** For `authentication.refused`. */
function codeOf(error: unknown): string {
  if (error instanceof OAuthError) return error.code;
  return error instanceof LonghaulError ? error.kind : 'unavailable';
}

function kindOf(error: unknown): string {
  return error instanceof LonghaulError ? error.kind : 'internal';
}

/** Refusals per caller and period that get a line of their own. */
const MOST_LINES = 5;
/** Callers that are counted separately in a period. All others count as one. */
const MOST_CALLERS = 50;

interface Count {
  lines: number;
  suppressed: number;
  last: AuditEntry;
}

/** Key of callers that aren't counted separately. */
const OTHERS = 'others';

/** Limits audit lines about refusals: a thousand refusals a second become a few lines with a count. */
class Refusals {
  readonly #counts = new Map<string, Count>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: AuditLog,
    private readonly periodMs: number,
  ) {}

  /** @param caller the principal, or whatever else distinguishes callers */
  add(caller: string, entry: AuditEntry): void {
    const key = this.#counts.has(caller) || this.#counts.size < MOST_CALLERS ? caller : OTHERS;
    const count = this.#counts.get(key) ?? { lines: 0, suppressed: 0, last: entry };
    this.#counts.set(key, count);
    this.#timer ??= setTimeout(() => this.flush(), this.periodMs).unref();
    if (count.lines < MOST_LINES) {
      count.lines += 1;
      this.log.append(entry);
    } else {
      count.suppressed += 1;
      count.last = entry;
    }
  }

  /** Ends the period, and writes the counts of suppressed refusals. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = [...this.#counts];
    this.#counts.clear();
    for (const [key, { suppressed, last }] of counts) {
      const { event, principal, address, outcome } = last;
      const who = key === OTHERS ? {} : { principal, address };
      if (suppressed > 0) this.log.append({ event, ...who, outcome, suppressed });
    }
  }
}
