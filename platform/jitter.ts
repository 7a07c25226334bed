/** Smallest share of a pause that jitter leaves. */
export const LEAST_JITTER = 0.5;

/** Random pause between half of `pauseMs` and `pauseMs`, in milliseconds, so that callers that failed together don't retry together. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (LEAST_JITTER + Math.random() * (1 - LEAST_JITTER));
}
