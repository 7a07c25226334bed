/** The script of attacks, which needs nothing of Longhaul's code, on a stack as it is started for users. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { StdioServers } from '../support/stdio-servers.js';
import { TestStack } from '../support/test-stack.js';

const project = temporaryFolder('hostile');
// A stack of its own: its worker is stopped, and its project gets tools with odd schemas.
mkdirSync(join(project, 'pipelines'));
writeFileSync(join(project, 'package.json'), '{"type":"module"}');
const stack = await forAllTests(
  TestStack.start({ LONGHAUL_PROJECT: project, LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines') }),
);
const stdio = await forAllTests(StdioServers.open(stack));

test('every attack fails', async () => {
  const [, worker] = stack.parts;
  const { command, args, env } = stdio.server;
  const script = spawn('test/hostile/run.sh', [stack.base, project, String(worker!.process.pid)], {
    env: { ...env, LONGHAUL_STDIO: [command, ...args].join(' ') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = '';
  script.stdout.on('data', (chunk: Buffer) => (lines += chunk.toString()));
  const [code] = (await once(script, 'close')) as [number];
  const checks = lines.trim().split('\n');
  expect(checks.filter((line) => !line.startsWith('ok - '))).toEqual([]);
  expect(checks.length).toBeGreaterThanOrEqual(25);
  expect(code).toBe(0);
});
