/** Random pause from half of `pauseMs` to all of it, in milliseconds: callers that failed together don't retry together. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random() / 2);
}
