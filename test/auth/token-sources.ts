import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** Settings of a server that accepts these tokens alone. Writes the file of token sources to the folder. */
export function acceptTokens(folder: string, ...sources: object[]) {
  const path = join(folder, `tokens-${randomUUID()}.yml`);
  writeFileSync(path, stringify(sources));
  return { LONGHAUL_AUTHENTICATION: 'tokens', LONGHAUL_TOKEN_SOURCES: path };
}
