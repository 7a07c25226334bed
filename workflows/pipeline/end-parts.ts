/** The end of a pipeline's or page's parts after a cancel, timeout or failure. */
import type { Cleanup } from '../runtime/index.js';
import type { JobPart } from './job-part.js';

/** Side by side, because several may be on hosts that don't answer. */
export async function endParts(
  parts: readonly Pick<JobPart, 'endUnfinished'>[],
  reason: Parameters<Cleanup>[0],
): Promise<void> {
  const settled = await Promise.allSettled(parts.map((part) => part.endUnfinished(reason)));
  for (const ended of settled) if (ended.status === 'rejected') throw ended.reason;
}
