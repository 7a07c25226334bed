/**
 * The engine for one caller: the engine's methods without the principal. The protocols have no other way to operations, so what
 * a caller may do is decided here alone.
 */
import type { Engine } from '../../engine/index.js';
import type { Tool } from '../../operations/tool.js';
import type { Caller } from './caller.js';

/** Parameters of an engine's method after the principal. */
type Rest<Method extends (principal: string, ...rest: never[]) => unknown> =
  Parameters<Method> extends [string, ...infer Others] ? Others : never;

export class CallerEngine {
  constructor(
    private readonly engine: Engine,
    readonly caller: Caller,
  ) {}

  get principal(): string {
    return this.caller.principal;
  }

  get temporal(): Engine['temporal'] {
    return this.engine.temporal;
  }

  get mailbox(): Engine['mailbox'] {
    return this.engine.mailbox;
  }

  get tools(): Engine['tools'] {
    return this.engine.tools;
  }

  tool(name: string, known?: () => string[]): Tool {
    return this.engine.tool(name, known);
  }

  start(...rest: Rest<Engine['start']>): ReturnType<Engine['start']> {
    return this.engine.start(this.principal, ...rest);
  }

  read(token: string): ReturnType<Engine['read']> {
    return this.engine.read(this.principal, token);
  }

  readLive(token: string): ReturnType<Engine['readLive']> {
    return this.engine.readLive(this.principal, token);
  }

  readPage(...rest: Rest<Engine['readPage']>): ReturnType<Engine['readPage']> {
    return this.engine.readPage(this.principal, ...rest);
  }

  watch(...rest: Rest<Engine['watch']>): ReturnType<Engine['watch']> {
    return this.engine.watch(this.principal, ...rest);
  }

  events(...rest: Rest<Engine['events']>): ReturnType<Engine['events']> {
    return this.engine.events(this.principal, ...rest);
  }

  answer(...rest: Rest<Engine['answer']>): ReturnType<Engine['answer']> {
    return this.engine.answer(this.principal, ...rest);
  }

  cancel(...rest: Rest<Engine['cancel']>): ReturnType<Engine['cancel']> {
    return this.engine.cancel(this.principal, ...rest);
  }

  resume(...rest: Rest<Engine['resume']>): ReturnType<Engine['resume']> {
    return this.engine.resume(this.principal, ...rest);
  }

  delete(token: string): ReturnType<Engine['delete']> {
    return this.engine.delete(this.principal, token);
  }

  readArtifact(...rest: Rest<Engine['readArtifact']>): ReturnType<Engine['readArtifact']> {
    return this.engine.readArtifact(this.principal, ...rest);
  }

  artifacts(token: string): ReturnType<Engine['artifacts']> {
    return this.engine.artifacts(this.principal, token);
  }

  artifact(...rest: Rest<Engine['artifact']>): ReturnType<Engine['artifact']> {
    return this.engine.artifact(this.principal, ...rest);
  }

  list(...rest: Rest<Engine['list']>): ReturnType<Engine['list']> {
    return this.engine.list(this.principal, ...rest);
  }

  logs(...rest: Rest<Engine['logs']>): ReturnType<Engine['logs']> {
    return this.engine.logs(this.principal, ...rest);
  }

  logText(...rest: Rest<Engine['logText']>): ReturnType<Engine['logText']> {
    return this.engine.logText(this.principal, ...rest);
  }
}

/** The engines of a process's callers. */
export class CallerEngines {
  readonly #engines = new WeakMap<Caller, CallerEngine>();

  constructor(private readonly engine: Engine) {}

  of(caller: Caller): CallerEngine {
    const known = this.#engines.get(caller);
    if (known) return known;
    const own = new CallerEngine(this.engine, caller);
    this.#engines.set(caller, own);
    return own;
  }
}
