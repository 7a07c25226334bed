/** A server that wants API keys: over HTTP, and from the command line. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { addApiKey, revokeApiKey } from '../../mcp-server/auth/key-store.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { forged } from '../support/forged.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const MAIN = resolve('dist/bin/longhaul.js');
const ALICE = { tenant: 'acme', subject: 'alice' };

const folder = temporaryFolder('keys');
const [key] = addApiKey(folder, ALICE);
// Own server: its callers have API keys.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({ LONGHAUL_AUTHENTICATION: 'keys', LONGHAUL_KEYS_FOLDER: folder }),
);

const wire = (credential?: string) => new WireClient(`${stack.base}/mcp`, undefined, undefined, credential);
const newKey = (): { id: string; text: string } => {
  const [text, { id }] = addApiKey(folder, ALICE);
  return { id, text };
};

/** Runs the command line against the server. */
function cli(args: string[], environment: Record<string, string> = {}): { status: number; output: string } {
  try {
    const options = {
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        LONGHAUL_URL: `${stack.base}/mcp`,
        LONGHAUL_KEYS_FOLDER: folder,
        ...environment,
      },
      stdio: 'pipe' as const,
    };
    return { status: 0, output: execFileSync(process.execPath, [MAIN, ...args], options).toString() };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return { status, output: stderr.toString() };
  }
}

test('without a key nothing but the health is shown, and the challenge names the scheme', async () => {
  const { body: document } = await new JobsClient(stack.base, key).get('/openapi.json');
  const paths = Object.keys(document.paths).filter((path) => path.startsWith('/v1/'));
  expect(paths).toContain('/v1/jobs');
  const anybody = new JobsClient(stack.base);
  for (const path of [...paths, '/openapi.json', '/v1/nothing'])
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, headers, body } = await anybody.request(method, path.replaceAll(/\{\w+\}/g, 'x'));
      if (path === '/openapi.json' && method !== 'GET' && status === 404) continue;
      expect([method, path, status, body.type]).toEqual([method, path, 401, '/problems/unauthenticated']);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="longhaul"');
    }
  for (const method of ['POST', 'GET', 'DELETE']) {
    const response = await fetch(`${stack.base}/mcp`, { method });
    expect([method, response.status]).toEqual([method, 401]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="longhaul"');
  }
  expect(await (await fetch(`${stack.base}/healthz`)).json()).toEqual({ status: 'ok' });
  const readiness = await (await fetch(`${stack.base}/readyz`)).json();
  expect(readiness).toEqual({ status: 'ready', checks: expect.any(Object) });
});

test('a key with another text is refused', async () => {
  const texts: [what: string, text: string][] = [
    ['another secret', forged(key)],
    ['another ID', key.replace(/^lh_[0-9a-f]{12}/, 'lh_000000000000')],
    ['a path as its ID', 'lh_../../etc/pass_' + 'A'.repeat(43)],
    ['no secret', key.slice(0, 16)],
    ['text that is no key', 'secret'],
  ];
  for (const [what, text] of texts) {
    const { httpStatus, error } = await wire(text).request('tools/list');
    expect([what, httpStatus, error]).toEqual([what, 401, 'invalid_token']);
  }
});

test('a key is taken from no other place than the header, in no other scheme', async () => {
  for (const [path, headers] of [
    [`/v1/jobs?access_token=${key}`, {}],
    [`/v1/jobs?api_key=${key}`, {}],
    ['/v1/jobs', { 'x-api-key': key }],
    ['/v1/jobs', { authorization: key }],
    ['/v1/jobs', { authorization: `Basic ${Buffer.from(`alice:${key}`).toString('base64')}` }],
    ['/v1/jobs', { authorization: `Bearer ${key}, Bearer ${key}` }],
  ] as [string, Record<string, string>][])
    expect((await fetch(stack.base + path, { headers })).status).toBe(401);
  expect((await fetch(`${stack.base}/v1/jobs`, { headers: { authorization: `bearer ${key}` } })).status).toBe(
    200,
  );
});

test('the principal stands in Temporal, as tenant and subject', async () => {
  const unique = randomUUID();
  const [text] = addApiKey(folder, { tenant: 'a/b', subject: `Zoë ${unique}` });
  const token = await wire(text).start('slow_compute', { seconds: 0 });
  await wire(text).until(token, 'completed');
  const { result } = await wire(text).call('operation_list', {});
  expect(result.structuredContent.operations.map((one: any) => one.token)).toContain(token);
  const runs = (await stack.temporal()).workflow.list({
    query: `LonghaulPrincipal = 'a%2Fb/Zo%C3%AB%20${unique}'`,
  });
  const ids: string[] = [];
  for await (const { workflowId } of runs) ids.push(workflowId);
  expect(ids).toHaveLength(1);
  expect(ids[0]!.endsWith(`.${token}`)).toBe(true);
});

test('an expired key is refused', async () => {
  const [text] = addApiKey(folder, { ...ALICE, expiresAt: new Date(Date.now() + 3_000).toISOString() });
  expect((await wire(text).request('tools/list')).httpStatus).toBe(200);
  await eventually('it has expired', async () => (await wire(text).request('tools/list')).httpStatus === 401);
});

test('a key that is revoked ends its streams, and no others', async () => {
  const { id, text } = newKey();
  const client = wire(text);
  const token = await client.start('confirm_delete', { filename: 'a.txt' });
  await client.until(token, 'input_required');
  const session = await LegacyClient.open(`${stack.base}/mcp`, '2025-11-25', {}, 'longhaul-tests', text);
  const own = await session.listen();
  const subscription = await client.listen({ taskIds: [token] });
  const others = await wire(key).listen({ taskIds: [token] });
  const events = await fetch(`${stack.base}/v1/jobs/${token}/events`, {
    headers: { authorization: `Bearer ${text}` },
  });
  const reader = events.body!.getReader();
  await eventually(
    'the streams have begun',
    () => subscription.messages.length > 0 && others.messages.length > 0,
  );

  revokeApiKey(folder, id);
  expect((await client.request('tasks/get', { taskId: token })).httpStatus).toBe(401);
  await Promise.all([own.ended, subscription.ended]);
  for (;;) if ((await reader.read()).done) break;

  await wire(key).request('tasks/cancel', { taskId: token });
  await eventually('the other stream continues', () =>
    others.messages.some(({ params }) => params?.status === 'cancelled'),
  );
  others.close();
});

test('a wait ends with 401 when its key is revoked', async () => {
  const { id, text } = newKey();
  const token = await wire(text).start('slow_compute', { seconds: 60 });
  const wait = fetch(`${stack.base}/v1/jobs/${token}?wait=50`, {
    headers: { authorization: `Bearer ${text}` },
  });
  // Where the wait hasn't begun yet, its request is refused alike.
  revokeApiKey(folder, id);
  const response = await wait;
  expect([response.status, ((await response.json()) as any).type]).toEqual([
    401,
    '/problems/unauthenticated',
  ]);
  await wire(key).request('tasks/cancel', { taskId: token });
});

test('a damaged file is no key, and leaves the others alone', async () => {
  const { id, text } = newKey();
  writeFileSync(join(folder, `${id}.json`), '{"id":');
  expect((await wire(text).request('tools/list')).httpStatus).toBe(401);
  expect((await wire(key).request('tools/list')).httpStatus).toBe(200);
  const listed = cli(['keys']);
  expect(listed.status).not.toBe(0);
  expect(listed.output).toContain(`${id}.json: expected a key made by longhaul keys add`);
  rmSync(join(folder, `${id}.json`));
});

test('longhaul keys makes, lists and revokes keys; the secret is kept nowhere', async () => {
  const { output } = cli(['keys', 'add', 'carol', '--tenant', 'acme', '--days', '30']);
  const text = output.trim();
  // The secret may hold underscores too.
  const form = /^lh_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
  expect(text).toMatch(form);
  expect((await wire(text).request('tools/list')).httpStatus).toBe(200);
  const [, id, secret] = form.exec(text) as unknown as [string, string, string];
  for (const name of readdirSync(folder)) {
    expect(execFileSync('cat', [join(folder, name)]).toString()).not.toContain(secret);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
  expect(cli(['keys']).output).toMatch(new RegExp(`^${id} +acme +carol +\\S+ +until `, 'm'));
  expect(cli(['keys', 'revoke', id]).output).toBe(`Revoked ${id}, of carol in acme.\n`);
  expect(cli(['keys']).output).toMatch(new RegExp(`^${id} +acme +carol +\\S+ +revoked `, 'm'));
  expect((await wire(text).request('tools/list')).httpStatus).toBe(401);
  expect(statSync(join(folder, `${id}.json`)).mode & 0o777).toBe(0o600);
  const [, grouped] = cli(['keys', 'add', 'dora', '--group', 'ops,on call', '--group', 'ops']).output.split(
    '_',
  );
  expect(cli(['keys']).output).toMatch(
    new RegExp(`^${grouped} +default +dora +ops,on call +\\S+ +valid$`, 'm'),
  );
  expect(JSON.parse(cli(['keys', '--json']).output).keys).toContainEqual(
    expect.objectContaining({ id: grouped, groups: ['ops', 'on call'] }),
  );
  for (const [args, message] of [
    [['keys', 'add', 'dora', '--group', ''], '--group: expected 1 to 120 characters without commas'],
    [['keys', 'revoke', 'nothing'], 'unknown key "nothing"'],
    [
      ['keys', 'add', 'carol', '--days', 'soon'],
      '--days: expected a number of days greater than 0; got "soon"',
    ],
    [['keys', 'add', 'x'.repeat(121)], 'subject: expected well-formed Unicode of at most 120 characters'],
  ] as [string[], string][]) {
    const refused = cli(args);
    expect(refused.status).not.toBe(0);
    expect(refused.output).toContain(message);
  }
});

test('keys add and keys revoke print JSON', () => {
  const made = JSON.parse(cli(['keys', 'add', 'dave', '--json']).output);
  expect(made).toMatchObject({ key: expect.stringMatching(/^lh_/), tenant: 'default', subject: 'dave' });
  expect(JSON.parse(cli(['keys', 'revoke', made.id, '--json']).output)).toMatchObject({
    id: made.id,
    revokedAt: expect.any(String),
  });
});

test('the command line says where LONGHAUL_API_KEY was refused', () => {
  expect(cli(['list'], { LONGHAUL_API_KEY: 'lh_no' }).output).toContain('LONGHAUL_API_KEY was refused');
});
