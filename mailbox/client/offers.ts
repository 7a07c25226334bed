/**
 * Claiming what is sent to anyone. The agents that wait on one process claim as one: of those that fit a message, the one that
 * has waited longest claims it, so that a message costs one claim a process and not one a waiter. Which process's claim is
 * first, the directory decides.
 */
import { fits, type Registration } from '../types.js';
import { CLAIM, type ClaimRequest } from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Watches } from '../../engine/watch.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** Claims of one principal that this process has under way at most. */
const CLAIMS_AT_ONCE = 3;
const RETRY_MS = 1_000;

interface Claimer {
  registration: Registration;
  /** It has claimed a message, which will come into its inbox. */
  hasClaimed: boolean;
}

export class Offers {
  readonly #boards = new Map<string, Board>();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly watches: Watches,
  ) {}

  /** This agent is free until the result is called. */
  join(principal: string, registration: Registration): () => void {
    let board = this.#boards.get(principal);
    if (!board) {
      board = new Board(this.workflows, this.watches, principal);
      this.#boards.set(principal, board);
    }
    const leave = board.join(registration);
    return () => {
      if (leave() === 0) this.#boards.delete(principal);
    };
  }
}

/** One principal's offers and its free agents on this process. */
class Board {
  /** Longest waiting first. */
  readonly #claimers = new Set<Claimer>();
  readonly #unfollow: () => void;
  #isLooking = false;
  #hasChanged = false;

  constructor(
    private readonly workflows: MailboxWorkflows,
    watches: Watches,
    private readonly principal: string,
  ) {
    this.#unfollow = watches.follow(workflows.directoryOf(principal), () => void this.#look());
  }

  /** @returns leaves, and says how many are left */
  join(registration: Registration): () => number {
    const claimer: Claimer = { registration, hasClaimed: false };
    this.#claimers.add(claimer);
    void this.#look();
    return () => {
      if (this.#claimers.delete(claimer) && this.#claimers.size === 0) this.#unfollow();
      return this.#claimers.size;
    };
  }

  async #look(): Promise<void> {
    this.#hasChanged = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#hasChanged && this.#claimers.size > 0) {
        this.#hasChanged = false;
        const wanted = (await this.workflows.describeDirectory(this.principal))?.wanted ?? [];
        await Promise.all(this.#fitting(wanted).map((claimer) => this.#claim(claimer)));
      }
    } catch {
      setTimeout(() => void this.#look(), withJitter(RETRY_MS)).unref();
    } finally {
      this.#isLooking = false;
    }
  }

  /** The free agents that claim now: for each message at most one. */
  #fitting(wanted: { selector: Parameters<typeof fits>[1]; count: number }[]): Claimer[] {
    const chosen = new Set<Claimer>();
    for (const { selector, count } of wanted) {
      let open = count;
      for (const claimer of this.#claimers) {
        if (open === 0 || chosen.size === CLAIMS_AT_ONCE) break;
        if (claimer.hasClaimed || chosen.has(claimer) || !fits(claimer.registration, selector)) continue;
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
      await this.workflows.updateDirectory(this.principal, CLAIM, request);
      // There may be more for the others.
      this.#hasChanged = true;
    } catch (error) {
      // Refused: somebody else was first.
      claimer.hasClaimed = false;
      if (!(error instanceof RefusedError)) throw error;
    }
  }
}
