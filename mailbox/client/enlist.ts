/**
 * Lists agents in the principal's directory. One update lists all agents that register with this process at the same time, so many
 * registrations cost little more than one. The home directory lists a principal's first agents. Shards, chosen by a hash of the
 * name, list the others.
 */
import { LonghaulError } from '../../operations/errors.js';
import { AGENTS_LIMIT } from '../limits.js';
import { DIRECTORY_SHARDS, shardsOf } from '../shards.js';
import { enlistAllUpdate, type EnlistAllRequest, type EnlistAllResult, type EnlistRequest } from '../wire.js';
import { RefusedError, type MailboxWorkflow, type MailboxWorkflows } from './workflows.js';
import type { DirectoryMemo } from '../state.js';

/** Maximum agents per update: some 450 KB with the longest registrations. */
const BATCH_LIMIT = 100;

interface Pending {
  request: EnlistRequest;
  limit: number;
  resolve: (answer: { isListed: boolean; listed: number }) => void;
  reject: (error: unknown) => void;
}

export class Enlistments {
  /** By directory: requests waiting for the update in flight. */
  readonly #pending = new Map<string, Pending[]>();

  /** @param homeLimit maximum agents in the home directory; shards list the others */
  constructor(private readonly homeLimit: number) {}

  /** Later reads of the directory find the agent. @throws LonghaulError `wrong_state` if there are too many agents, `unavailable` */
  async enlist(workflows: MailboxWorkflows, request: EnlistRequest): Promise<void> {
    const home = await this.#add(workflows.directory(), request, this.homeLimit);
    if (home.isListed) return;
    const left = Math.max(0, AGENTS_LIMIT - home.listed);
    for (const shard of shardsOf(request.name)) {
      // The limits of all shards add up to `left`.
      const limit = Math.floor((left + shard) / DIRECTORY_SHARDS);
      if ((await this.#add(workflows.directory(shard), request, limit)).isListed) return;
    }
    throw new LonghaulError(
      'wrong_state',
      `too many agents (at most ${AGENTS_LIMIT}); end some, or reuse a name`,
    );
  }

  #add(directory: MailboxWorkflow<DirectoryMemo>, request: EnlistRequest, limit: number) {
    return new Promise<{ isListed: boolean; listed: number }>((resolve, reject) => {
      const pending = this.#pending.get(directory.id);
      const one: Pending = { request, limit, resolve, reject };
      if (pending) pending.push(one);
      else void this.#sendAll(directory, [one]);
    });
  }

  async #sendAll(directory: MailboxWorkflow<DirectoryMemo>, pending: Pending[]): Promise<void> {
    this.#pending.set(directory.id, pending);
    while (pending.length > 0) {
      const batch = pending.splice(0, BATCH_LIMIT);
      try {
        const { refused, listed } = await send(directory, {
          agents: batch.map(({ request }) => request),
          limit: Math.min(...batch.map(({ limit }) => limit)),
        });
        for (const { request, resolve } of batch)
          resolve({ isListed: !refused.includes(request.name), listed });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#pending.delete(directory.id);
  }
}

async function send(
  directory: MailboxWorkflow<DirectoryMemo>,
  request: EnlistAllRequest,
): Promise<EnlistAllResult> {
  try {
    return await directory.update(enlistAllUpdate, request, { starts: 'if missing', isUrgent: true });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return error.detail as EnlistAllResult;
  }
}
