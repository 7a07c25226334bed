/** Thrown for a pattern that is no ECMAScript regular expression, or uses syntax that can't be matched in linear time. */
export class UnsupportedPattern extends Error {
  override name = 'UnsupportedPattern';
}
