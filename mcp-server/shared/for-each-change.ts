import { ProtocolError } from '@modelcontextprotocol/server';
import { LonghaulError } from '../../operations/errors.js';

/**
 * Calls `notify` with each item until it returns true. Ends without an error if the operation is purged meanwhile or can no longer
 * be rendered. Other errors pass through.
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
