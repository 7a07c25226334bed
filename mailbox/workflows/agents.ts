/** The agents that one directory lists, bounded in number and bytes. Pure. */
import { jsonBytes } from '../json-size.js';
import type { ListedAgent } from '../state.js';
import type { Registration } from '../types.js';
import type { EnlistRequest, LeaveNotice } from '../wire.js';

/** Maximum size of the list, in bytes of JSON. With its offers and publications, a home directory stays under 1 MiB. */
const AGENTS_LIMIT_BYTES = 300 * 1024;

export class AgentList {
  readonly #agents: Map<string, ListedAgent>;
  /** Agents that haven't left, and their bytes. */
  #present = 0;
  #presentBytes = 0;
  #bytes = 0;

  constructor(agents: Record<string, ListedAgent>) {
    this.#agents = new Map(Object.entries(agents));
    for (const agent of this.#agents.values()) this.#count(agent, 1);
  }

  toRecord(): Record<string, ListedAgent> {
    return Object.fromEntries(this.#agents);
  }

  all(): ListedAgent[] {
    return [...this.#agents.values()];
  }

  find(name: string): ListedAgent | undefined {
    return this.#agents.get(name);
  }

  get present(): number {
    return this.#present;
  }

  /** Whether the agent is listed with this registration, or in a later session. */
  isCurrent({ isForced, ...agent }: EnlistRequest): boolean {
    const listed = this.find(agent.name);
    if (!listed) return false;
    return listed.epoch > agent.epoch || (!listed.hasLeft && !isForced && isSame(agent, listed));
  }

  /**
   * Whether the agent fits, once agents that have left are removed.
   *
   * @param limit maximum number of agents. An agent that is already listed needs room only for its bytes
   */
  hasRoom(agent: ListedAgent, limit: number): boolean {
    const listed = this.find(agent.name);
    const others = listed && !listed.hasLeft ? this.#presentBytes - bytesOf(listed) : this.#presentBytes;
    return (listed !== undefined || this.#present < limit) && others + bytesOf(agent) <= AGENTS_LIMIT_BYTES;
  }

  /** Lists an agent. Removes agents that have left if it needs their room. */
  put(agent: ListedAgent, limit: number): void {
    const listed = this.find(agent.name);
    if (listed) this.#count(listed, -1);
    this.#agents.set(agent.name, agent);
    this.#count(agent, 1);
    for (const { name, hasLeft } of this.#agents.values()) {
      if (this.#agents.size <= limit && this.#bytes <= AGENTS_LIMIT_BYTES) return;
      if (hasLeft) this.delete(name);
    }
  }

  delete(name: string): void {
    const agent = this.find(name);
    if (!agent) return;
    this.#agents.delete(name);
    this.#count(agent, -1);
  }

  /** Marks an agent as left, or removes it if its inbox is closed. @returns whether it was listed */
  leave({ name, epoch, isForgotten }: LeaveNotice): boolean {
    const agent = this.find(name);
    if (!agent) return false;
    if (agent.epoch > epoch) return true;
    this.#count(agent, -1);
    if (isForgotten) this.#agents.delete(name);
    else this.#count(Object.assign(agent, { hasLeft: true as const }), 1);
    return true;
  }

  #count(agent: ListedAgent, sign: 1 | -1): void {
    const bytes = sign * bytesOf(agent);
    this.#bytes += bytes;
    if (agent.hasLeft) return;
    this.#present += sign;
    this.#presentBytes += bytes;
  }
}

/** Size of the entry in a JSON object, with a comma. Excludes `hasLeft`, so leaving needs no room. */
function bytesOf({ hasLeft: _hasLeft, ...agent }: ListedAgent): number {
  return jsonBytes(agent) + jsonBytes(agent.name) + 2;
}

function isSame(one: Registration, other: Registration): boolean {
  const ordered = ({ name, type, capabilities, parent }: Registration) =>
    JSON.stringify([name, type, capabilities, parent]);
  return ordered(one) === ordered(other);
}
