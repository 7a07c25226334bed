/** Unusable home; the message names its path, what was expected, what came and what to do. */
export class HomeError extends Error {
  override name = 'HomeError';
}
