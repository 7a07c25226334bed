/** A home that can't be used; the message names its path, what was expected, what came and what to do. */
export class HomeError extends Error {
  override name = 'HomeError';
}
