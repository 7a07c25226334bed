import { appendFile } from 'node:fs/promises';

export async function note(ledger: string, line: string): Promise<void> {
  await appendFile(ledger, `${line}\n`);
}
