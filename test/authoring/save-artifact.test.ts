/** `saveArtifact` of `longhaul/activity`: which paths it takes. Runs in this process, in the context that a worker gives. */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncLocalStorage } from '@temporalio/activity';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { activityContext } from '../../activities/runtime/context.js';
import { saveArtifact, type Artifact } from '../../activities/runtime/index.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { folderStorage, type Storage } from '../../platform/storage/index.js';

let folder: string;
let storage: Storage;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-save-'));
  storage = folderStorage(join(folder, 'storage'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);

function save(name: string): Promise<Artifact> {
  const temporal = { cancellationSignal: new AbortController().signal, info: {}, heartbeat: () => undefined };
  const own = { storage, token: 'token-1', operationId: 'operation-1' };
  return asyncLocalStorage.run(temporal as any, () =>
    activityContext.run(own as any, () => saveArtifact(path(name))),
  );
}

test('a file is moved, also behind a link', async () => {
  writeFileSync(path('report.txt'), 'report');
  symlinkSync('report.txt', path('latest.txt'));
  expect(await save('latest.txt')).toMatchObject({ name: 'latest.txt', bytes: 6 });
  const key = artifactKey('operation-1', 'latest.txt');
  expect(String(await storage.read(key))).toBe('report');
  expect(lstatSync(join(folder, 'storage', key)).isFile()).toBe(true);
  expect(['report.txt', 'latest.txt'].filter((name) => existsSync(path(name)))).toEqual([]);
});

test('what is no file is refused, and stays', async () => {
  mkdirSync(path('folder'));
  spawnSync('mkfifo', [path('pipe')]);
  for (const name of ['folder', 'pipe']) {
    await expect(save(name)).rejects.toMatchObject({
      type: 'ArtifactRefused',
      nonRetryable: true,
      message: `artifact ${name} is no file`,
    });
    expect(existsSync(path(name))).toBe(true);
  }
  await expect(save('nowhere')).rejects.toMatchObject({ code: 'ENOENT' });
});
