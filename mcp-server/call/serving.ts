/** Settings of a process that serves MCP, the same for all revisions. */
import type { Logger } from '../../platform/observe/log.js';
import type { ResourceLinksSetting } from '../links/links-as-text.js';

export interface Serving {
  transport: 'http' | 'stdio';
  resourceLinks: ResourceLinksSetting;
  logger: Logger;
}

/**
 * How a client cancels an unanswered request: by closing its stream over HTTP in 2026-07-28, elsewhere by a notification (specs:
 * 2026-07-28 basic/patterns/cancellation, "Transport-Specific Cancellation"; 2025-11-25 basic/utilities/cancellation).
 */
export type RequestCancellation = 'closed stream' | 'notification';
