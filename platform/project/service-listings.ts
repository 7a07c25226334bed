/** The tools that Nexus services list. Asks again in the background when an answer is old, so calls never wait. */
import type { ToolService } from '../../external-workflows/service.js';
import type { NexusService } from '../../operations/wire/nexus-call.js';
import type { Tool } from '../../operations/tool/index.js';
import type { Logger } from '../observe/log.js';

/** Shortest time between two questions to a service: after an answer, and after a failure. */
const ANSWERED_INTERVAL_MS = 60_000;
const FAILED_INTERVAL_MS = 5_000;

/** Asks a service for its tools. @returns result of its operation `list_tools` */
export type ListTools = (service: NexusService) => Promise<unknown>;

/** A service's tools. A change makes a new object. */
export interface Listing {
  tools: Tool[];
  /** A line for each unusable tool, or why there are none. */
  problems: string[];
  isKnown: boolean;
}

interface State {
  listing: Listing;
  /** Last answer, as JSON. */
  answer?: string;
  /** Why later questions failed. */
  failure?: string;
  dueMs: number;
  asking?: Promise<void>;
}

export class ServiceListings {
  readonly #states = new WeakMap<ToolService, State>();
  #list: ListTools | undefined;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /** Asks services from now on. */
  serve(list: ListTools): void {
    this.#list = list;
  }

  of(service: ToolService): Listing {
    const state = this.#stateOf(service);
    if (this.#list && !state.asking && performance.now() >= state.dueMs)
      state.asking = this.#ask(this.#list, service, state).finally(() => delete state.asking);
    return state.listing;
  }

  /** Resolves once a question in progress has ended. */
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
