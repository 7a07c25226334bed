import { appendFile } from 'node:fs/promises';

export async function mark(path: string, text: string): Promise<void> {
  await appendFile(path, `${text}\n`);
}
