/** The home can't be used. The message says which path, what was expected, what came and what to do. */
export class HomeError extends Error {
  override name = 'HomeError';
}
