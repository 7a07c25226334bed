/** Failed operations link to their run in Temporal's UI, on every protocol; who sees the link. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSettings } from '../../platform/settings/index.js';
import { runUrl, temporalUiOf } from '../../engine/temporal/ui.js';
import { run } from '../cli/commands.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { protocolClients } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';

const UI = 'https://temporal.example.com/ui';

// Own server: with the address of a UI.
const parts = await forAllTests(TestStack.serverOnSharedWorker({ LONGHAUL_TEMPORAL_UI: `${UI}/` }));

describe('an operation that has failed', () => {
  /** Address of the current run. */
  async function urlOf(token: string): Promise<string> {
    const { runId } = await (await parts.temporal()).workflow.getHandle(token).describe();
    return `${UI}/namespaces/default/workflows/${token}/${runId}/history`;
  }

  test('links to its run on every protocol', async () => {
    const token = await parts.client.start('failing_job');
    await parts.client.until(token, 'completed');
    const url = await urlOf(token);
    for (const client of protocolClients(parts.base)) {
      const reading = await client.read(token);
      expect(`${client.name}: ${JSON.stringify(reading!.raw)}`).toContain(url);
      await client.close?.();
    }
    const { result, _meta } = await parts.client.get(token);
    expect(_meta['longhaul/temporal-url']).toBe(url);
    expect(result._meta['longhaul/temporal-url']).toBe(url);
    expect(result.content.at(-1)).toEqual({ type: 'text', text: `Temporal's UI: ${url}` });
    const job = await fetch(`${parts.base}/v1/jobs/${token}`).then((response) => response.json() as any);
    expect(job.links.temporal).toBe(url);
    const status = await run(parts, ['status', token]);
    expect(status.stdout).toContain(`temporal    ${url}\n`);
    const outcome = await run(parts, ['result', token]);
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(url) });
  });

  test('links also if it was terminated, or ended with a JSON-RPC error', async () => {
    const { client } = parts;
    const terminated = await client.start('slow_compute', { seconds: 600 });
    await (await parts.temporal()).workflow.getHandle(terminated).terminate('disk is full');
    const end = await client.until(terminated, 'completed');
    expect(end.result._meta['longhaul/temporal-url']).toBe(await urlOf(terminated));
    const refused = await client.start('protocol_error_job');
    await client.until(refused, 'failed');
    const { stderr, code } = await run(parts, ['result', refused]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `failed: the upstream rate limit was exceeded\nTemporal's UI: ${await urlOf(refused)}\n`,
    });
  });

  test('links, unless it is open, completed or canceled', async () => {
    const { client } = parts;
    const taskId = await client.start('slow_compute', { seconds: 600 });
    expect(JSON.stringify(await client.get(taskId))).not.toContain(UI);
    await client.request('tasks/cancel', { taskId });
    expect(JSON.stringify(await client.until(taskId, 'cancelled'))).not.toContain(UI);
    const greeted = await client.start('slow_compute', { seconds: 0 });
    expect(JSON.stringify(await client.until(greeted, 'completed'))).not.toContain(UI);
  });
});

describe('the address', () => {
  const home = temporaryFolder('ui');
  const state = { temporalAddress: '127.0.0.1:7233', temporalUiUrl: 'http://127.0.0.1:8233' };
  writeFileSync(join(home, 'stack.json'), JSON.stringify(state));

  const given = { TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS'] };
  const withTemporal = async (address: string | undefined, flags: object) => {
    if (address === undefined) delete process.env['TEMPORAL_ADDRESS'];
    else process.env['TEMPORAL_ADDRESS'] = address;
    try {
      return temporalUiOf(await loadSettings({ home, ...flags }, {}, home));
    } finally {
      if (given.TEMPORAL_ADDRESS === undefined) delete process.env['TEMPORAL_ADDRESS'];
      else process.env['TEMPORAL_ADDRESS'] = given.TEMPORAL_ADDRESS;
    }
  };

  test("is the embedded UI's for everybody on this machine, else the setting's", async () => {
    expect(await withTemporal(undefined, {})).toBe('http://127.0.0.1:8233');
    // A supervisor names the embedded Temporal's address to its processes.
    expect(await withTemporal('127.0.0.1:7233', {})).toBe('http://127.0.0.1:8233');
    expect(await withTemporal('temporal.example.com:7233', {})).toBeUndefined();
    expect(await withTemporal(undefined, { temporalUi: 'off' })).toBeUndefined();
    expect(await withTemporal(undefined, { temporalUi: 'on' })).toBe('http://127.0.0.1:8233');
    expect(await withTemporal('temporal.example.com:7233', { temporalUi: 'on' })).toBeUndefined();
    expect(await withTemporal('temporal.example.com:7233', { temporalUi: UI })).toBe(UI);
  });

  test('of a UI without a login is not shown to callers that have to log in', async () => {
    const authentication = 'keys';
    expect(await withTemporal(undefined, { authentication })).toBeUndefined();
    expect(await withTemporal(undefined, { authentication, temporalUi: 'on' })).toBeUndefined();
    expect(await withTemporal(undefined, { authentication, temporalUi: UI })).toBe(UI);
  });

  test('has every name encoded', () => {
    expect(runUrl('http://ui/', 'a/b', 'tag.x y%/?#', 'run')).toBe(
      'http://ui/namespaces/a%2Fb/workflows/tag.x%20y%25%2F%3F%23/run/history',
    );
  });

  test.each(['temporal.example.com', 'ftp://ui', 'https://me:secret@ui', 'https://ui/?namespace=x', '/ui'])(
    '%s is refused',
    async (temporalUi) => {
      await expect(loadSettings({ temporalUi }, {}, home)).rejects.toThrow(
        `--temporal-ui: expected 'on', 'off', or the http or https URL of Temporal's UI without credentials, query and fragment; got "${temporalUi}"`,
      );
    },
  );
});
