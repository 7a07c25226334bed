/**
 * The tools of Nexus services that list them. A service is asked in the background, when its tools are looked for and the last answer
 * is old: a call never waits for it. Its last answer holds while it doesn't give another.
 */
import type { ToolService } from '../external-workflows/service.js';
import type { NexusService } from '../operations/nexus-call.js';
import type { Tool } from '../operations/tool.js';
import type { Logger } from './log.js';

/** Shortest time between two questions to a service that has answered, and one that hasn't, in milliseconds. */
const ANSWERED_INTERVAL_MS = 60_000;
const FAILED_INTERVAL_MS = 5_000;

/** Asks a service for its tools. @returns result of its operation `list_tools` */
export type ListTools = (service: NexusService) => Promise<unknown>;

/** A service's tools; another object once they have changed. */
export interface Listing {
  tools: Tool[];
  /** A line for each tool that can't be used, or why there are none. */
  problems: string[];
  /** Whether the service has answered. */
  isKnown: boolean;
}

interface State {
  listing: Listing;
  /** Last answer, as JSON. */
  answer?: string;
  /** Why there was none since then. */
  failure?: string;
  dueMs: number;
  asking?: Promise<void>;
}

export class ServiceListings {
  readonly #states = new WeakMap<ToolService, State>();
  #list: ListTools | undefined;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /** @param list asks services from now on; until then none is asked */
  serve(list: ListTools): void {
    this.#list = list;
  }

  /** The service's tools as last listed. */
  of(service: ToolService): Listing {
    const state = this.#stateOf(service);
    if (this.#list && !state.asking && performance.now() >= state.dueMs)
      state.asking = this.#ask(this.#list, service, state).finally(() => delete state.asking);
    return state.listing;
  }

  /** Resolves once the service has been asked, if that is under way. */
  async settled(service: ToolService): Promise<void> {
    await this.#stateOf(service).asking;
  }

  #stateOf(service: ToolService): State {
    let state = this.#states.get(service);
    if (!state) {
      const problem = 'its tools are not known yet: the service has not listed them';
      state = { listing: { tools: [], problems: [problem], isKnown: false }, dueMs: 0 };
      this.#states.set(service, state);
    }
    return state;
  }

  async #ask(list: ListTools, service: ToolService, state: State): Promise<void> {
    const { endpoint, service: name } = service;
    try {
      const listed = await list({ endpoint, service: name });
      const answer = JSON.stringify(listed);
      if (answer !== state.answer) state.listing = { ...service.toolsOf(listed), isKnown: true };
      state.answer = answer;
      state.failure = undefined;
      state.dueMs = performance.now() + ANSWERED_INTERVAL_MS;
    } catch (error) {
      const { message } = error as Error;
      if (message !== state.failure) this.#note(service, state, message);
      state.dueMs = performance.now() + FAILED_INTERVAL_MS;
    }
  }

  #note({ endpoint, service }: ToolService, state: State, failure: string): void {
    state.failure = failure;
    if (state.listing.isKnown)
      this.logger.warn({ endpoint, service }, `a Nexus service does not list its tools any more: ${failure}`);
    else state.listing = { tools: [], problems: [`its tools are not known yet: ${failure}`], isKnown: false };
  }
}
