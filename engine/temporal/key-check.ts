/**
 * Detects servers of this Temporal with another secret. Start memos name the signing key, and all servers see them. Such servers refuse
 * each other's tokens, sessions and answers, and their workers refuse each other's work.
 */
import { parseSignature } from '../../operations/wire/signatures.js';
import { START_MEMO, type StartMemo } from '../../operations/wire/index.js';
import { OK, SAME_SECRET, warning, type Check } from '../../platform/observe/health/checks.js';
import { Background } from '../../platform/observe/metrics/background.js';
import { quote } from '../../platform/temporal/visibility-query.js';
import { listRuns } from '../list/current-runs.js';
import { decodeMemo } from '../read/history.js';
import type { TemporalClient } from './client.js';

/** Interval between looks and age of the starts to look at, in milliseconds, and their number. */
const LOOK_INTERVAL_MS = 60_000;
const RECENT_MS = 3600_000;
const LOOKED_AT = 50;

export class KeyCheck {
  readonly #foreign: Background<string[]>;

  /** @param keyId this server's key in signatures */
  constructor(
    private readonly temporal: TemporalClient,
    private readonly keyId: string,
  ) {
    this.#foreign = new Background(LOOK_INTERVAL_MS, () => this.#look());
  }

  /** The outcome of the last look; the background repeats it. */
  read(): Check {
    if (this.temporal.isConnected) this.#foreign.refresh();
    const [foreign] = this.#foreign.value ?? [];
    if (foreign === undefined) return OK;
    return warning(
      `operations of the last hour were started with the key ${foreign}, and this server has the key ${this.keyId}: ${SAME_SECRET}`,
    );
  }

  async #look(): Promise<string[]> {
    const since = new Date((await this.temporal.nowMs()) - RECENT_MS).toISOString();
    const query = `TaskQueue = ${quote(this.temporal.taskQueue)} AND StartTime > '${since}' AND ParentWorkflowId IS NULL`;
    const { infos } = await listRuns(this.temporal, 'metrics', query, LOOKED_AT, undefined);
    const keys = new Set<string>();
    for (const { memo } of infos) {
      const start = await decodeMemo<StartMemo>(this.temporal, memo?.fields, START_MEMO);
      const keyId = parseSignature(start?.signature)?.keyId;
      if (keyId !== undefined && keyId !== this.keyId) keys.add(keyId);
    }
    return [...keys];
  }
}
