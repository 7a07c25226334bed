/** Values of an operation's state that are in storage, for its record. */
import { LRUCache } from 'lru-cache';
import { LonghaulError } from '../../operations/errors.js';
import {
  CHILDREN_MEMO,
  CUT_MARK,
  DETAILS_MEMO,
  PARTIAL_MEMO,
  type PublishedState,
  type StoredClaim,
  type StoredField,
} from '../../operations/wire/state.js';
import type { Storage } from '../../platform/storage/index.js';
import { withStoredValues } from '../../platform/temporal/closed-state.js';
import { readStored } from '../../platform/temporal/data-converter.js';

/** Maximum size of a value in a record that isn't read live. */
const RECORD_VALUE_BYTES = 64 * 1024;
/** A value's key has its hash, so a cached value is never out of date. */
const CACHE_BYTES = 16 * 1024 * 1024;

export class StoredValues {
  readonly #cache = new LRUCache<string, { value: unknown }>({ maxSize: CACHE_BYTES });

  constructor(private readonly storage: Storage) {}

  /** Adds the details, and values that are small enough for every read. What storage doesn't give stays a claim. */
  async addSmall(state: PublishedState): Promise<PublishedState> {
    let complete = state;
    for (const field of [DETAILS_MEMO, PARTIAL_MEMO, CHILDREN_MEMO] as const) {
      const claim = complete.claims?.[field];
      if (!claim || (field !== DETAILS_MEMO && claim.bytes > RECORD_VALUE_BYTES)) continue;
      complete = await this.add(complete, [field]).catch((error: unknown) => {
        if (!(error instanceof LonghaulError)) throw error;
        return complete;
      });
    }
    return withWholeTexts(complete);
  }

  /** Adds values of any size. @throws LonghaulError `unavailable`, `internal` if one is lost */
  add(state: PublishedState, fields: readonly StoredField[]): Promise<PublishedState> {
    return withStoredValues(state, fields, (claim) => this.#read(claim));
  }

  async #read(claim: StoredClaim): Promise<unknown> {
    const known = this.#cache.get(claim.key);
    if (known) return known.value;
    const value = await readStored(this.storage, claim);
    // Or else it may be the value before.
    if (claim.before === undefined) this.#cache.set(claim.key, { value }, { size: Math.max(1, claim.bytes) });
    return value;
  }
}

function withWholeTexts(state: PublishedState): PublishedState {
  const { texts = {}, stage, cancelReason, progress } = state;
  return {
    ...state,
    stage: wholeText(stage, texts.stage),
    cancelReason: wholeText(cancelReason, texts.cancelReason),
    progress: progress && { ...progress, message: wholeText(progress.message, texts.message) },
  };
}

/** The whole text if it belongs to this cut one: an activity's report changes the cut text alone. */
function wholeText(cut: string | undefined, whole: string | undefined): string | undefined {
  const isOfThis = cut?.endsWith(CUT_MARK) && whole?.startsWith(cut.slice(0, -CUT_MARK.length));
  return isOfThis ? whole : cut;
}
