import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveArtifact } from 'longhaul/activity';

export async function leaveFile(name: string): Promise<void> {
  const path = join(await mkdtemp(join(tmpdir(), 'longhaul-family-')), name);
  await writeFile(path, 'left behind');
  await saveArtifact(path);
}
