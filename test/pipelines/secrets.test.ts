import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { PipelineProject, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINES = {
  secretive: `
secrets: [API_KEY]
inputs: { properties: { ledger: { type: string } } }
outputs: { key: only.key }
jobs:
  only:
    outputs: [key]
    artifacts: ['file-*']
    steps:
      - run: |
          echo "the key is $API_KEY"
          printf '%s' "\${API_KEY:0:5}"; sleep 0.5; printf '%s\\n' "\${API_KEY:5}"
          echo "key=$API_KEY" >> "$LONGHAUL_OUTPUT"
          touch "file-$API_KEY"
`,
  missing_secret: `
secrets: [NOT_SET_ANYWHERE]
jobs:
  only:
    steps: [{ run: 'echo never' }]
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.start(PIPELINES, { LONGHAUL_SECRET_API_KEY: 's3cr3t-value-1234' });
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('a secret is seen by the step and by nobody else', async () => {
  const token = await project.client.start('secretive');
  const result = await project.finish(token);
  expect(result.structuredContent).toEqual({ key: '***' });
  const children = await project.children(token);
  expect(children[0].artifacts).toMatchObject([{ name: 'only/file-***' }]);
  const log = join(process.env['LONGHAUL_HOME']!, 'storage', 'logs', token, 'only', '1');
  expect(readFileSync(log, 'utf8')).toBe('the key is ***\n***\n');
  const { events } = await (await project.parts.temporal()).workflow.getHandle(token).fetchHistory();
  expect(JSON.stringify(events)).not.toContain('s3cr3t');
  expect(JSON.stringify(events)).not.toContain(Buffer.from('s3cr3t').toString('base64').slice(0, 7));
});

test('a secret that is missing fails the job before its first step, and says what to set', async () => {
  const result = await project.finish(await project.client.start('missing_secret'));
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('LONGHAUL_SECRET_NOT_SET_ANYWHERE');
});
