/** Claims messages for anyone: one claim per message and process, by the longest waiting match. The directory's first claim wins. */
import type { DirectoryMemo } from '../state.js';
import { matchesSelector, type Registration } from '../types.js';
import { claimUpdate, type ClaimRequest } from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Watches } from '../../engine/watch/index.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

const CLAIM_CONCURRENCY = 3;
const RETRY_MS = 1_000;

interface Claimer {
  registration: Registration;
  /** Has claimed a message that the directory is assigning to its inbox. */
  hasClaimed: boolean;
}

export class Offers {
  readonly #byPrincipal = new Map<string, PrincipalOffers>();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly watches: Watches,
  ) {}

  /** Claims messages for this agent until you call the result. */
  join(principal: string, registration: Registration): () => void {
    let offers = this.#byPrincipal.get(principal);
    if (!offers) {
      offers = new PrincipalOffers(this.workflows, this.watches, principal);
      this.#byPrincipal.set(principal, offers);
    }
    const leave = offers.join(registration);
    return () => {
      if (leave() === 0) this.#byPrincipal.delete(principal);
    };
  }
}

/** One principal's messages for anyone, and its free agents on this process. */
class PrincipalOffers {
  /** Longest waiting first. */
  readonly #claimers = new Set<Claimer>();
  readonly #unfollow: () => void;
  #isReading = false;
  #hasChanged = false;

  constructor(
    private readonly workflows: MailboxWorkflows,
    watches: Watches,
    private readonly principal: string,
  ) {
    this.#unfollow = watches.follow(workflows.directoryOf(principal), () => void this.#read());
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
        const wanted = (await this.workflows.describeDirectory(this.principal))?.wanted ?? [];
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
      await this.workflows.updateDirectory(this.principal, claimUpdate, request);
      // There may be messages for other agents.
      this.#hasChanged = true;
    } catch (error) {
      // Another claim was first.
      claimer.hasClaimed = false;
      if (!(error instanceof RefusedError)) throw error;
    }
  }
}
