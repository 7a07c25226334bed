/** Format version of a home. Keeps an older Longhaul from changing a newer one's home. */
import { join } from 'node:path';
import { isDiskFullError } from './disk.js';
import { HomeError } from './home-error.js';
import { longhaulPackage } from './package.js';
import { readIfThere, writeFileAtomically } from './atomic-files.js';

/** Increment it when earlier versions must not use the home. */
const FORMAT = 1;

/** Content of `longhaul.version`. */
interface HomeFormat {
  format: number;
  /** Version of the Longhaul that wrote it, for messages. */
  longhaul: string;
}

export function writeHomeFormat(home: string): void {
  const { version } = longhaulPackage();
  try {
    writeFileAtomically(
      formatFile(home),
      `${JSON.stringify({ format: FORMAT, longhaul: version } satisfies HomeFormat)}\n`,
    );
  } catch (error) {
    // The next start writes it.
    if (!isDiskFullError(error)) throw error;
  }
}

/** Undefined for a home without a format file. @throws HomeError when it is newer than this Longhaul, or damaged */
export function readHomeFormat(home: string): HomeFormat | undefined {
  const text = readIfThere(formatFile(home))?.toString();
  if (text === undefined) return undefined;
  const known = parsed(text);
  if (!known)
    throw new HomeError(
      `${formatFile(home)}: expected {"format": NUMBER, "longhaul": VERSION}; got ${JSON.stringify(text.slice(0, 80))}. ` +
        `If no newer Longhaul has used ${home}, delete this file`,
    );
  if (known.format <= FORMAT) return known;
  throw new HomeError(
    `home ${home}: expected format ${FORMAT} or lower; got format ${known.format}, written by Longhaul ${known.longhaul}. ` +
      `Run that version or a newer one, or name another folder with --home or LONGHAUL_HOME`,
  );
}

function parsed(text: string): HomeFormat | undefined {
  try {
    const value = JSON.parse(text) as Partial<HomeFormat> | null;
    return Number.isInteger(value?.format)
      ? { format: value!.format!, longhaul: String(value!.longhaul) }
      : undefined;
  } catch {
    return undefined;
  }
}

function formatFile(home: string): string {
  return join(home, 'longhaul.version');
}
