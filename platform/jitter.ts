/** Random pause between half of `pauseMs` and `pauseMs`, in milliseconds, so that callers that failed together don't retry together. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random() / 2);
}
