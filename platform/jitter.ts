/** Smallest share of a pause that jitter leaves. */
export const LEAST_JITTER = 0.5;

/** Random pause from half of `pauseMs` to `pauseMs`, so that callers that failed together don't retry together. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (LEAST_JITTER + Math.random() * (1 - LEAST_JITTER));
}
