/** examples/migrate-repositories: repositories are only read until its question is answered, and a cancel leaves nothing. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { makeRepositories } from '../../examples/migrate-repositories/demo/repositories.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import { Refused, type ProtocolClient, type Reading } from '../support/protocols/client.js';
import { ExampleStack, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const BRANCH = 'migrate-node-apis';

let example: ExampleStack;
const work = mkdtempSync(join(tmpdir(), 'migrate-'));
const clones = join(work, 'clones');

beforeAll(async () => {
  example = await ExampleStack.start('migrate-repositories', async () => ({ MIGRATION_FOLDER: clones }));
});
afterAll(async () => {
  await example?.stop();
  rmSync(work, { recursive: true, force: true });
});

const until = (client: ProtocolClient, what: string, token: string, holds: (now: Reading) => unknown) =>
  eventually(`${client.name}: ${what}`, async () => {
    const now = await client.read(token).catch((error: unknown) => {
      // Temporal is late on a busy machine.
      if (error instanceof Refused && error.isRetryable) return undefined;
      throw error;
    });
    return now && holds(now) ? now : undefined;
  });

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();

test('an approved repository gets a branch; a cancelled call leaves neither branch nor clone', async () => {
  await throughProtocols('migrate-repositories', example.base, 'tokens', async (client) => {
    const [orders, , billing] = makeRepositories(join(work, randomUUID())) as [string, string, string];
    const token = await client.start(
      'migrate_repositories',
      { repositories: [orders, billing] },
      randomUUID(),
    );
    const { questions, progress } = await until(client, 'it asks', token, (now) => now.questions.length > 0);
    if (progress) expect(progress).toMatchObject({ progress: 8, total: 8 });
    const { partial } = await new JobsClient(example.base).job(token);
    expect(partial.repositories).toMatchObject([
      { name: 'orders-api', state: 'ready', files: 4, changes: 7, left: [] },
      { name: 'legacy-billing', state: 'skipped', reason: expect.stringContaining('exit code 1') },
    ]);
    expect(git(orders, 'branch', '--list', BRANCH)).toBe('');
    await client.answer(token, questions[0]!.key, { commit: ['orders-api'] });
    const { result } = await until(client, 'it is over', token, ({ isOver }) => isOver);
    expect(result.repositories).toMatchObject([{ state: 'committed', branch: BRANCH }, { state: 'skipped' }]);
    expect(git(orders, 'rev-parse', BRANCH)).toBe(result.repositories[0].commit);

    const args = { repositories: [billing], checks: ['sleep 1000'] };
    const canceled = await client.start('migrate_repositories', args, randomUUID());
    const clone = `${canceled.replace(/[^\w.-]/g, '-')}.legacy-billing`;
    await eventually('its command runs', async () => existsSync(join(clones, clone, '.git/command.log')));
    await client.cancel(canceled);
    await eventually('its clone is removed', async () => !readdirSync(clones).includes(clone));
    await until(client, 'it is canceled', canceled, ({ states }) => states.includes('canceled'));
    expect(git(billing, 'branch', '--list', BRANCH)).toBe('');
  });
});

test('its own tests and types pass', () => runOwnTests(example.folder));
