/** The engine of one caller, with a line in the audit log for each action, refused ones too. */
import type { OperationRecord } from '../../operations/record.js';
import type { Engine } from '../../engine/index.js';
import type { Tool } from '../../operations/tool.js';
import type { Caller } from '../auth/caller.js';
import { CallerEngine, CallerEngines, type Access } from '../auth/caller-engine.js';
import type { Actor, Audit, Subject } from './index.js';
import type { Origin } from './origin.js';

type Parameter<Name extends keyof CallerEngine> = CallerEngine[Name] extends (...all: infer All) => unknown
  ? All
  : never;
type Returned<Name extends keyof CallerEngine> = CallerEngine[Name] extends (...all: never[]) => infer Result
  ? Result
  : never;

/** The engines of a process's callers. @param audit records what they do. Default: nothing is recorded */
export function enginesOf(engine: Engine, access: Access, audit: Audit | undefined): CallerEngines {
  return audit ? new AuditedEngines(engine, access, audit) : new CallerEngines(engine, access);
}

class AuditedEngines extends CallerEngines {
  constructor(
    engine: Engine,
    access: Access,
    private readonly audit: Audit,
  ) {
    super(engine, access);
  }

  override of(caller: Caller, origin: () => Origin): CallerEngine {
    return new AuditedEngine(this.audit, origin(), this.engine, caller, this.access);
  }
}

class AuditedEngine extends CallerEngine {
  readonly #actor: Actor;

  /** @param origin of the request that it serves */
  constructor(
    private readonly audit: Audit,
    origin: Origin,
    ...rest: ConstructorParameters<typeof CallerEngine>
  ) {
    super(...rest);
    const { principal, credential } = this.caller;
    this.#actor = { principal, ...(credential ? { credential } : {}), ...origin };
  }

  override tool(name: string, known?: () => string[]): Tool {
    try {
      return super.tool(name, known);
    } catch (error) {
      // A name that no tool has is the client's own text.
      if (this.tools.get(name))
        this.audit.refusedRead(this.#actor, { event: 'tool.refused', tool: name }, error);
      throw error;
    }
  }

  override start(...rest: Parameter<'start'>): Returned<'start'> {
    const [{ name }, , options] = rest;
    const subject: Subject = {
      event: 'operation.start',
      tool: name,
      ...(options?.token === undefined ? {} : { operation: options.token }),
    };
    return this.audit.change(this.#actor, subject, () => super.start(...rest), started);
  }

  override answer(...rest: Parameter<'answer'>): Returned<'answer'> {
    const subject: Subject = { event: 'operation.answer', operation: rest[0] };
    return this.audit.change(this.#actor, subject, () => super.answer(...rest));
  }

  override cancel(...rest: Parameter<'cancel'>): Returned<'cancel'> {
    const subject: Subject = { event: 'operation.cancel', operation: rest[0] };
    return this.audit.change(this.#actor, subject, () => super.cancel(...rest));
  }

  override resume(...rest: Parameter<'resume'>): Returned<'resume'> {
    const subject: Subject = { event: 'operation.resume', operation: rest[0] };
    return this.audit.change(
      this.#actor,
      subject,
      () => super.resume(...rest),
      ({ token, tool }) => ({
        started: token,
        tool,
      }),
    );
  }

  override delete(token: string): Returned<'delete'> {
    const subject: Subject = { event: 'operation.delete', operation: token };
    return this.audit.change(this.#actor, subject, () => super.delete(token));
  }

  override read(token: string): Returned<'read'> {
    return this.#record(token, super.read(token));
  }

  override readLive(token: string): Returned<'readLive'> {
    return this.#record(token, super.readLive(token));
  }

  override async readPage(...rest: Parameter<'readPage'>): Promise<Awaited<Returned<'readPage'>>> {
    const [token] = rest;
    const page = super.readPage(...rest);
    await this.#record(
      token,
      page.then(({ record }) => record),
    );
    return page;
  }

  override async *watch(...rest: Parameter<'watch'>): Returned<'watch'> {
    const [token] = rest;
    try {
      for await (const record of super.watch(...rest)) {
        this.#hasRead(token, record);
        yield record;
      }
    } catch (error) {
      this.audit.refusedRead(this.#actor, { event: 'operation.read', operation: token }, error);
      throw error;
    }
  }

  override async *events(...rest: Parameter<'events'>): Returned<'events'> {
    const subject: Subject = { event: 'operation.events', operation: rest[0] };
    try {
      for await (const event of super.events(...rest)) {
        this.audit.read(this.#actor, subject);
        yield event;
      }
    } catch (error) {
      this.audit.refusedRead(this.#actor, subject, error);
      throw error;
    }
  }

  override readArtifact(...rest: Parameter<'readArtifact'>): Returned<'readArtifact'> {
    const [operation, artifact] = rest;
    return this.#read({ event: 'operation.artifact', operation, artifact }, super.readArtifact(...rest));
  }

  override artifact(...rest: Parameter<'artifact'>): Returned<'artifact'> {
    const [operation, artifact] = rest;
    return this.#read({ event: 'operation.artifact', operation, artifact }, super.artifact(...rest));
  }

  override artifacts(token: string): Returned<'artifacts'> {
    return this.#read({ event: 'operation.artifacts', operation: token }, super.artifacts(token));
  }

  override logs(...rest: Parameter<'logs'>): Returned<'logs'> {
    return this.#read({ event: 'operation.logs', operation: rest[0] }, super.logs(...rest));
  }

  override logText(...rest: Parameter<'logText'>): Returned<'logText'> {
    return this.#read({ event: 'operation.logs', operation: rest[0] }, super.logText(...rest));
  }

  override list(...rest: Parameter<'list'>): Returned<'list'> {
    return this.#read({ event: 'operations.list' }, super.list(...rest));
  }

  /** Records the first read of a closed operation, which has its result, and every refusal. */
  async #record(token: string, reading: Promise<OperationRecord>): Promise<OperationRecord> {
    try {
      const record = await reading;
      this.#hasRead(token, record);
      return record;
    } catch (error) {
      this.audit.refusedRead(this.#actor, { event: 'operation.read', operation: token }, error);
      throw error;
    }
  }

  #hasRead(token: string, { closedAt, tool }: Pick<OperationRecord, 'closedAt' | 'tool'>): void {
    if (closedAt !== undefined)
      this.audit.read(this.#actor, { event: 'operation.result', operation: token, tool });
  }

  async #read<Result>(subject: Subject, reading: Promise<Result>): Promise<Result> {
    try {
      const result = await reading;
      this.audit.read(this.#actor, subject);
      return result;
    } catch (error) {
      this.audit.refusedRead(this.#actor, subject, error);
      throw error;
    }
  }
}

function started({ token }: OperationRecord): Partial<Subject> {
  return { operation: token };
}
