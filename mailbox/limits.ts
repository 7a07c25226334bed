/** Limits, defaults and intervals of the mailbox. */

/** Maximum content of a message or a response, in bytes of its UTF-8: 256 KiB. */
export const CONTENT_LIMIT_BYTES = 256 * 1024;
/** Maximum context of a message, in bytes of its JSON in UTF-8: 64 KiB. */
export const CONTEXT_LIMIT_BYTES = 64 * 1024;
/** Contents over this size are kept in storage, and history holds their key, in bytes of JSON: 4 KiB. */
export const INLINE_LIMIT_BYTES = 4 * 1024;
/** The same for contexts and responses, of which more are kept: 1 KiB. */
export const SMALL_INLINE_LIMIT_BYTES = 1024;
/** Maximum messages in one inbox; further sends are refused. */
export const INBOX_LIMIT = 100;
/** Maximum untaken messages for anyone; further sends are refused. */
export const OFFERS_LIMIT = 60;
/** Maximum agents of one principal. */
export const AGENTS_LIMIT = 1_000;
/** Maximum agents that one message is sent to by name. */
export const RECIPIENTS_LIMIT = 100;
/** Agents on one page of the status: default, and maximum. */
export const STATUS_PAGE = 100;
export const STATUS_PAGE_LIMIT = 500;
/** Maximum names in the selector of a message for anyone. */
export const CANDIDATES_LIMIT = 16;
export const CAPABILITIES_LIMIT = 16;

/** Maximum and default time to live of a message, in seconds: 7 days. */
export const TTL_LIMIT_SECONDS = 7 * 24 * 3600;
/** Default lease: an unacknowledged message returns to the queue after this time, in seconds: 15 minutes. */
export const LEASE_SECONDS = 15 * 60;
/** Shortest and longest lease that may be asked for, in seconds. */
export const LEASE_RANGE_SECONDS = [1, 24 * 3600] as const;
/** Default number of deliveries without an acknowledgement before a message becomes a dead letter. */
export const MAX_DELIVERIES = 5;
/** Fewest and most deliveries that a sender may ask for. */
export const MAX_DELIVERIES_RANGE = [1, 100] as const;
/** Maximum dead letters of one inbox; the oldest is dropped first. */
export const DEAD_LETTERS_LIMIT = 100;
/** Retention of dead letters, in milliseconds: 7 days. */
export const DEAD_LETTERS_KEPT_MS = 7 * 24 * 3600_000;
/** Maximum text of a progress report, in bytes of its UTF-8. */
export const REPORT_LIMIT_BYTES = 1_000;
/** Minimum interval between two recorded progress reports on a message, in milliseconds; half the lease where that is less. */
export const REPORT_INTERVAL_MS = 10_000;
/** An agent without an open wait for this time counts as away, in milliseconds: 30 seconds. */
export const AWAY_AFTER_MS = 30_000;
/** An agent without a heartbeat for this time counts as gone, in milliseconds: 25 minutes. */
export const GONE_AFTER_MS = 25 * 60_000;
/** Interval of a waiting agent's heartbeats, in milliseconds: 12 minutes. */
export const HEARTBEAT_INTERVAL_MS = 12 * 60_000;
/** Retention of replies, in milliseconds: a day. */
export const REPLIES_KEPT_MS = 24 * 3600_000;
