/** Thrown for a pattern that isn't a valid ECMAScript regular expression or can't be matched in linear time. */
export class UnsupportedPattern extends Error {
  override name = 'UnsupportedPattern';
}
