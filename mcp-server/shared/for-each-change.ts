/** Following: what is watched, passed on item by item. */
import { ProtocolError } from '@modelcontextprotocol/server';
import { LonghaulError } from '../../operations/errors.js';

/**
 * Passes each item on until `notify` returns true: that was the last. An operation that is purged meanwhile, or can't be
 * rendered any more, ends the loop; other errors pass through.
 */
export async function forEachChange<T>(
  items: AsyncIterable<T>,
  notify: (item: T) => Promise<boolean | void>,
): Promise<void> {
  try {
    for await (const item of items) if (await notify(item)) return;
  } catch (error) {
    if (!(error instanceof LonghaulError || error instanceof ProtocolError)) throw error;
  }
}
