/** The stack with authentication, as an admin starts it; and the addresses that it refuses without. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { selectAuditLines } from '../../mcp-server/audit/log/select.js';
import { settingConflicts } from '../../platform/settings/conflicts.js';
import { loadSettings } from '../../platform/settings/index.js';
import { eventually, TestHome } from '../stack/cli-process.js';
import { FIXTURES } from '../support/test-stack.js';
import { WireClient } from '../support/mcp.js';

let home: TestHome;
beforeEach(async () => {
  // Own stack: the tests start it as an admin does.
  home = await TestHome.create();
});
afterEach(() => home.remove());

const run = async (args: string[], environment: NodeJS.ProcessEnv = {}) => {
  const command = home.run(args, environment);
  return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() };
};

test('keys, then up, then calls over HTTP and stdio, each with what is theirs', async () => {
  const add = async (subject: string) => (await run(['keys', 'add', subject])).stdout.trim();
  const [alice, bob] = [await add('alice'), await add('bob')];
  const up = await home.up({ LONGHAUL_AUTHENTICATION: 'keys', LONGHAUL_PROJECT: FIXTURES });
  expect(up.stdout()).toContain('Callers:           those with an API key, on this machine');
  expect(up.stdout()).toContain('over stdio in the variable LONGHAUL_API_KEY');
  const asAlice = { LONGHAUL_API_KEY: alice };
  const { code, stdout } = await run(['call', 'slow_compute', '--seconds', '0', '--detach'], asAlice);
  expect(code).toBe(0);
  const token = stdout.trim();
  expect((await run(['watch', token], asAlice)).code).toBe(0);
  expect((await run(['status', token], asAlice)).code).toBe(0);
  expect((await run(['status', token], { LONGHAUL_API_KEY: bob })).stderr).toContain('not found');
  expect((await run(['status', token])).stderr).toContain('set LONGHAUL_API_KEY');

  const audit = join(home.path, 'audit');
  const environment = {
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_PROJECT: FIXTURES,
    LONGHAUL_AUDIT_LOG: audit,
  };
  const none = await run(['stdio'], environment);
  expect(none.code).toBe(1);
  expect(none.stderr).toContain('LONGHAUL_API_KEY: expected an API key');
  const ask = async (key: string, taskId: string) => {
    const stdio = home.run(['stdio'], { ...environment, LONGHAUL_API_KEY: key });
    stdio.process.stdin!.write(`${JSON.stringify(new WireClient('').envelope('tasks/get', { taskId }))}\n`);
    await eventually('it answers', () => stdio.stdout().includes('\n'));
    return { stdio, answer: JSON.parse(stdio.stdout()) };
  };
  const [own, foreign] = [await ask(alice, token), await ask(bob, token)];
  expect(own.answer.result).toMatchObject({ taskId: token, status: 'completed' });
  expect(foreign.answer.error.message).toContain('not found');

  const [, id] = alice.split('_') as [string, string];
  expect((await run(['keys', 'revoke', id])).code).toBe(0);
  expect(await own.stdio.ended).toBe(0);
  expect(own.stdio.stderr()).toContain('the API key has expired or was revoked');
  foreign.stdio.process.stdin!.end();
  expect(await foreign.stdio.ended).toBe(0);
  const [line, ...others] = await selectAuditLines(audit, { principal: 'default/bob' });
  expect(line).toMatchObject({ event: 'operation.read', transport: 'stdio', outcome: 'not_found' });
  expect(line).not.toHaveProperty('address');
  expect(others).toEqual([]);
});

test.each(['up', 'server'])(
  '%s refuses an address that others reach, without authentication',
  async (command) => {
    const { code, stderr } = await run([command, '--host', '0.0.0.0']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('--host 0.0.0.0: expected a loopback address such as 127.0.0.1');
    expect(stderr).toContain('longhaul keys add');
  },
);

test.each(['::', '192.0.2.1', 'example.com'])('others reach %s', async (host) => {
  const conflicts = settingConflicts(await loadSettings({ host }, {}, home.path));
  expect(conflicts.join()).toContain(`--host ${host}: expected a loopback address such as 127.0.0.1`);
});

test('behind a gateway it listens on any address, and says that anybody may call', async () => {
  const up = await home.up({ LONGHAUL_HOST: '0.0.0.0', LONGHAUL_ALLOW_UNAUTHENTICATED: 'true' });
  expect(up.stdout()).toContain('Callers:           anybody from all networks of 0.0.0.0');
  expect((await fetch(`${home.url}/v1/jobs`)).status).toBe(200);
});
