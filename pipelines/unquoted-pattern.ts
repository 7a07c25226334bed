/** Patterns without quotes: to YAML, `*.tgz` is an alias, and `!*.map` a tag. */

/** A value that begins with `*` or `!`, after the start of an item or a value. */
const PATTERN =
  /(?<=(?:^[ \t]*|[ \t])-[ \t]+|[[,][ \t]*|:[ \t]+)[*!](?:\[[^\]\n]*\]|\{[^}\n]*\}|[^\s,[\]{}'"])*/gm;

/** Number of characters to read before and after a place. */
const REACH = 300;

/** A pattern, not the name of an anchor or a tag. */
const GLOB = /^[*!].*[^\w:-]/;

/**
 * Advice for a text value that begins with `*` or `!`; undefined for other text.
 *
 * @param offset of a place in the value
 * @param isPattern whether a pattern is expected there. Default: only where it looks like one
 */
export function unquotedPattern(text: string, offset: number, isPattern = false): string | undefined {
  // Reads only nearby text: a line may be as long as the file, and have as many mistakes.
  const before = text
    .slice(Math.max(0, offset - REACH), offset)
    .split('\n')
    .at(-1)!;
  const [after = ''] = text.slice(offset, offset + REACH).split('\n', 1);
  for (const { 0: found, index } of (before + after).matchAll(PATTERN)) {
    if (before.length < index || before.length > index + found.length) continue;
    if (isPattern || found === '*' || GLOB.test(found))
      return `text that begins with ${found[0]} needs quotes: '${found}'`;
  }
  return undefined;
}
