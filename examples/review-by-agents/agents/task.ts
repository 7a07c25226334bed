import type { Aspect } from '../lib/review.js';

/** Context of a message that asks for one part of a review. */
export interface Task {
  /** Name of the review, for keys. */
  review: string;
  aspect: Aspect;
  folder: string;
  diff: string;
  maxFiles: number;
}
