/** Compares what a page shows of a command with what the command printed here. */

const TOKEN = /\b[0-9a-f]{32}\b/g;
/** Parts of a line that differ from run to run, or from machine to machine. */
const VARYING: [RegExp, string][] = [
  // Commands name the home and ports that aren't the usual ones.
  [/ --(home|port|temporal-port) \S+|,"--(home|port|temporal-port)","[^"]*"/g, ''],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\b[0-9a-f]{32,64}\b/g, 'HEX'],
  [/\b[\w-]+-[0-9a-f]{10}\b/g, 'HOST'],
  [/\brun\.[\w-]+/g, 'SEALED'],
  [/(\/[\w.+-]+)+/g, 'PATH'],
  [/\b\d+(\.\d+)?(ms|[dhms])( ?\d+[hms])*\b/g, 'DURATION'],
  [/\d+(\.\d+)?/g, 'N'],
  [/ +/g, ' '],
];

/** The values of a table are the same everywhere. */
const plain = (line: string) =>
  line.startsWith('| ')
    ? line.trim()
    : VARYING.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim();

/**
 * Looks for the page's lines in the output, in their order; the page may leave lines out. `...` in a line stands for any text.
 *
 * @returns the first line of the page that is missing, and tokens of the page with the ones that stand for them here
 */
export function compare(
  shown: readonly string[],
  output: string,
): { missing: string | undefined; tokens: [string, string][] } {
  const lines = output.split('\n');
  const tokens: [string, string][] = [];
  let at = 0;
  for (const line of shown) {
    if (line.trim() === '' || line.trim() === '...') continue;
    const pattern = new RegExp(`^${plain(line).split('...').map(escaped).join('.*')}$`);
    const found = lines.findIndex((one, index) => index >= at && pattern.test(plain(one)));
    if (found < 0) return { missing: line, tokens };
    const here = lines[found]!.match(TOKEN) ?? [];
    tokens.push(
      ...(line.match(TOKEN) ?? []).map((one, index): [string, string] => [one, here[index] ?? one]),
    );
    at = found + 1;
  }
  return { missing: undefined, tokens };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
