/** For how long clients let a call run, as far as that is known (docs/clients.md). */

/** What is left below a limit for the way there and back, in seconds. */
const MARGIN_SECONDS = 5;
/** Of clients that nothing is known of: the official TypeScript client gives a call up after 60 s. */
const USUAL_LIMIT_SECONDS = 60;

/** By how the client's name for itself begins, in lower case. Where a limit can be set, its usual value stands here. */
const LIMITS_SECONDS: readonly (readonly [name: string, seconds: number])[] = [
  ['claude-code', 120],
  // Claude Desktop as well as claude.ai, whose limit is the lower one.
  ['claude-ai', 60],
  ['visual studio code', 300],
  ['goose', 300],
  ['longhaul-cli', 3600],
];

/** The longest wait that such a client surely gets the answer of, in seconds. */
export function longestWaitSeconds(clientName: string | undefined): number {
  const name = clientName?.toLowerCase() ?? '';
  const [, limit = USUAL_LIMIT_SECONDS] = LIMITS_SECONDS.find(([start]) => name.startsWith(start)) ?? [];
  return limit - MARGIN_SECONDS;
}
