/** Limits, defaults and intervals of the mailbox. */

/** Maximum content of a message or a response: 256 KiB of UTF-8. */
export const CONTENT_LIMIT_BYTES = 256 * 1024;
/** Maximum context of a message: 64 KiB of JSON in UTF-8. */
export const CONTEXT_LIMIT_BYTES = 64 * 1024;
/** Contents above 4 KiB of JSON go to storage, and history holds only their key. */
export const INLINE_LIMIT_BYTES = 4 * 1024;
/** The same for contexts and responses, because more of them are kept: 1 KiB. */
export const SMALL_INLINE_LIMIT_BYTES = 1024;
/** Maximum messages in one inbox. Further sends are refused. */
export const INBOX_LIMIT = 100;
/** Maximum untaken messages for anyone. Further sends are refused. */
export const OFFERS_LIMIT = 60;
export const AGENTS_LIMIT = 1_000;
/** Maximum agents that one message names. */
export const RECIPIENTS_LIMIT = 100;
/** Agents per status page: default, and maximum. */
export const STATUS_PAGE = 100;
export const STATUS_PAGE_LIMIT = 500;
/** Maximum names in the selector of a message for anyone. */
export const CANDIDATES_LIMIT = 16;
export const CAPABILITIES_LIMIT = 16;

/** Maximum and default time to live of a message: 7 days. */
export const TTL_LIMIT_SECONDS = 7 * 24 * 3600;
/** Default lease: 15 minutes. A message that isn't acknowledged by then returns to the queue. */
export const LEASE_SECONDS = 15 * 60;
/** Shortest and longest lease that you can request, in seconds. */
export const LEASE_RANGE_SECONDS = [1, 24 * 3600] as const;
/** Default deliveries without an acknowledgement before a message becomes a dead letter. */
export const MAX_DELIVERIES = 5;
/** Fewest and most deliveries that a sender can request. */
export const MAX_DELIVERIES_RANGE = [1, 100] as const;
/** Maximum dead letters of one inbox. The oldest is dropped first. */
export const DEAD_LETTERS_LIMIT = 100;
/** Retention of dead letters: 7 days. */
export const DEAD_LETTERS_KEPT_MS = 7 * 24 * 3600_000;
/** Maximum text of a progress report, in bytes of UTF-8. */
export const REPORT_LIMIT_BYTES = 1_000;
/** Minimum interval between recorded progress reports on a message, in milliseconds. Half the lease, if that is shorter. */
export const REPORT_INTERVAL_MS = 10_000;
/** Time without an open wait after which an agent counts as away: 30 seconds. */
export const AWAY_AFTER_MS = 30_000;
/** Time without a heartbeat after which an agent counts as gone: 25 minutes. */
export const GONE_AFTER_MS = 25 * 60_000;
/** Interval of a waiting agent's heartbeats: 12 minutes. */
export const HEARTBEAT_INTERVAL_MS = 12 * 60_000;
/** Retention of replies: a day. */
export const REPLIES_KEPT_MS = 24 * 3600_000;
