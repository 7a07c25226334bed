/**
 * Claims messages for anyone. The agents that wait on one process claim as one: of those that match a message, the one that
 * has waited longest claims it, so that a message costs one claim per process and not one per waiter. The directory gives the
 * message to the first claim.
 */
import type { DirectoryMemo } from '../state.js';
import { matchesSelector, type Registration } from '../types.js';
import { claimUpdate, type ClaimRequest } from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Watches } from '../../engine/watch.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** Maximum concurrent claims per principal from this process. */
const CLAIM_CONCURRENCY = 3;
const RETRY_MS = 1_000;

interface Claimer {
  registration: Registration;
  /** It has claimed a message, which the directory assigns to its inbox. */
  hasClaimed: boolean;
}

export class Offers {
  readonly #byPrincipal = new Map<string, PrincipalOffers>();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly watches: Watches,
  ) {}

  /** Claims messages for this agent until the result is called. */
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

/** Messages for anyone of one principal, and its free agents on this process. */
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

  /** @returns a function that removes the agent and returns the number of remaining ones */
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

  /** The free agents that claim now: at most one per message. */
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
      // There may be messages for the other agents.
      this.#hasChanged = true;
    } catch (error) {
      // Refused: another claim was first.
      claimer.hasClaimed = false;
      if (!(error instanceof RefusedError)) throw error;
    }
  }
}
