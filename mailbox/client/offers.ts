/** Claims messages for anyone: one claim per message and process, by the longest waiting match. The directory's first claim wins. */
import type { DirectoryMemo } from '../state.js';
import { matchesSelector, type Registration } from '../types.js';
import { claimUpdate, type ClaimRequest } from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Watches } from '../../engine/watch/index.js';
import { RefusedError, type MailboxWorkflow, type MailboxWorkflows } from './workflows.js';

const CLAIM_CONCURRENCY = 3;
const RETRY_MS = 1_000;

interface Claimer {
  registration: Registration;
  /** Has claimed a message that the directory is assigning to its inbox. */
  hasClaimed: boolean;
}

export class Offers {
  readonly #byDirectory = new Map<string, DirectoryOffers>();

  constructor(private readonly watches: Watches) {}

  /** Claims messages for this agent until you call the result. */
  join(workflows: MailboxWorkflows, registration: Registration): () => void {
    const directory = workflows.directory();
    let offers = this.#byDirectory.get(directory.id);
    if (!offers) this.#byDirectory.set(directory.id, (offers = new DirectoryOffers(directory, this.watches)));
    const leave = offers.join(registration);
    return () => {
      if (leave() === 0) this.#byDirectory.delete(directory.id);
    };
  }
}

/** One principal's messages for anyone, and its free agents on this process. */
class DirectoryOffers {
  /** Longest waiting first. */
  readonly #claimers = new Set<Claimer>();
  readonly #unfollow: () => void;
  #isReading = false;
  #hasChanged = false;

  constructor(
    private readonly directory: MailboxWorkflow<DirectoryMemo>,
    watches: Watches,
  ) {
    this.#unfollow = watches.follow(directory.id, () => void this.#read());
  }

  /** @returns removes the agent, and returns how many remain */
  join(registration: Registration): () => number {
    const claimer: Claimer = { registration, hasClaimed: false };
    this.#claimers.add(claimer);
    void this.#read();
    return () => {
      if (this.#claimers.delete(claimer) && this.#claimers.size === 0) this.#unfollow();
      return this.#claimers.size;
    };
  }

  async #read(): Promise<void> {
    this.#hasChanged = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#hasChanged && this.#claimers.size > 0) {
        this.#hasChanged = false;
        const wanted = (await this.directory.describe())?.wanted ?? [];
        await Promise.all(this.#nextClaimers(wanted).map((claimer) => this.#claim(claimer)));
      }
    } catch {
      setTimeout(() => void this.#read(), withJitter(RETRY_MS)).unref();
    } finally {
      this.#isReading = false;
    }
  }

  /** Free agents that should claim now, at most one per message. */
  #nextClaimers(wanted: DirectoryMemo['wanted']): Claimer[] {
    const chosen = new Set<Claimer>();
    for (const { selector, count } of wanted) {
      let open = count;
      for (const claimer of this.#claimers) {
        if (open === 0 || chosen.size === CLAIM_CONCURRENCY) break;
        if (claimer.hasClaimed || chosen.has(claimer) || !matchesSelector(claimer.registration, selector))
          continue;
        chosen.add(claimer);
        open -= 1;
      }
    }
    return [...chosen];
  }

  async #claim(claimer: Claimer): Promise<void> {
    claimer.hasClaimed = true;
    const { registration } = claimer;
    const request: ClaimRequest = { name: registration.name, registration };
    try {
      await this.directory.update(claimUpdate, request, { starts: 'if missing' });
      // There may be messages for other agents.
      this.#hasChanged = true;
    } catch (error) {
      // Another claim was first.
      claimer.hasClaimed = false;
      if (!(error instanceof RefusedError)) throw error;
    }
  }
}
