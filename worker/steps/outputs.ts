/** Parses $LONGHAUL_OUTPUT: `key=value` lines, and `key<<DELIMITER` for values of several lines. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const MAX_VALUE_BYTES = 64 * 1024;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 200;
/** Maximum size of the file: values, keys and delimiters. */
const MAX_FILE_BYTES = 2 * MAX_BYTES;
/** Maximum length of a quote in a problem, in characters. */
const QUOTED_CHARACTERS = 60;

export interface ParsedOutputs {
  /** Outputs before the first problem. */
  outputs: Record<string, string>;
  /** The first problem, with its line. */
  problem?: string;
}

/** Reads the file. A file that the step removed counts as empty. @param mask masks secrets in the problem's quotes */
export async function readOutputs(path: string, mask: (text: string) => string): Promise<ParsedOutputs> {
  let file;
  try {
    // A step may have replaced it: a FIFO must not block, and a link must not be followed.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { outputs: {} };
    return { outputs: {}, problem: `$LONGHAUL_OUTPUT can't be read: ${(error as Error).message}` };
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return { outputs: {}, problem: '$LONGHAUL_OUTPUT is no longer a file' };
    if (stat.size > MAX_FILE_BYTES)
      return { outputs: {}, problem: `$LONGHAUL_OUTPUT holds more than ${MAX_BYTES / 1024} KiB` };
    return parseOutputs(await file.readFile('utf8'), mask);
  } finally {
    await file.close();
  }
}

export function parseOutputs(
  text: string,
  mask: (text: string) => string = (unchanged) => unchanged,
): ParsedOutputs {
  // Masked before the cut, because the beginning of a secret can't be recognized.
  const quoted = (part: string) => `"${mask(part).slice(0, QUOTED_CHARACTERS)}"`;
  const lines = text.split('\n');
  // No prototype, so `__proto__` is a key like any other.
  const outputs = Object.create(null) as Record<string, string>;
  let bytes = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.trim() === '') continue;
    const number = at + 1;
    const failed = (problem: string) => ({
      outputs: { ...outputs },
      problem: `line ${number} of $LONGHAUL_OUTPUT: ${problem}`,
    });
    const [, key = '', operator, rest = ''] = /^(.*?)(=|<<)(.*)$/su.exec(line) ?? [];
    if (!operator) return failed(`expected key=value or key<<DELIMITER; got ${quoted(line)}`);
    if (!KEY.test(key))
      return failed(
        `expected a key of letters, digits, _ and -, not beginning with a digit; got ${quoted(key)}`,
      );
    let value = rest;
    if (operator === '<<') {
      if (!rest) return failed(`expected a delimiter after ${key}<<`);
      const end = lines.indexOf(rest, at + 1);
      if (end < 0) return failed(`the value of ${key} has no end: no line ${quoted(rest)} follows`);
      value = lines.slice(at + 1, end).join('\n');
      at = end;
    }
    const valueBytes = Buffer.byteLength(value);
    bytes += valueBytes;
    if (valueBytes > MAX_VALUE_BYTES)
      return failed(`the value of ${key} has more than ${MAX_VALUE_BYTES / 1024} KiB; write an artifact`);
    if (bytes > MAX_BYTES) return failed(`the values have more than ${MAX_BYTES / 1024} KiB together`);
    outputs[key] = value;
    if (Object.keys(outputs).length > MAX_KEYS) return failed(`there are more than ${MAX_KEYS} keys`);
  }
  return { outputs: { ...outputs } };
}
