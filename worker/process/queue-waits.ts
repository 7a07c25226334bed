/** How long activities waited for this worker, by Temporal's time: the local clock may be hours off. */
import type { Info } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { temporalNowMs, temporalTime } from '../../platform/temporal/time.js';

export class QueueWaits {
  constructor(
    private readonly temporal: { current: object },
    private readonly client: () => Client,
  ) {}

  /** Temporal's time in epoch milliseconds, or slightly earlier. */
  get nowMs(): number {
    return temporalTime(this.temporal.current).nowMs;
  }

  /** Reads Temporal's time unless a recent one is known. */
  async refresh(): Promise<void> {
    await temporalNowMs(this.client());
  }

  /** The attempt's minimum wait in milliseconds; 0 for a local activity, which its own worker runs. Call it as the attempt starts. */
  of({ isLocal, currentAttemptScheduledTimestampMs: scheduledMs }: Info): number {
    if (isLocal) return 0;
    const time = temporalTime(this.temporal.current);
    time.hearMs(scheduledMs);
    if (time.isDue) void this.refresh();
    return Math.max(0, time.nowMs - scheduledMs);
  }
}
