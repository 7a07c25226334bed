/** A pause between half of this time and all of it, so that those who failed together don't come back together. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random() / 2);
}
