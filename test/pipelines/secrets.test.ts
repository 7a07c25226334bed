import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { stepLogText } from '../support/stored-log.js';
import { SHARED_SECRET } from '../support/test-stack.js';
import { PipelineProject, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINES = {
  secretive: `
secrets: [SHARED]
inputs: { properties: { ledger: { type: string } } }
outputs: { key: only.key }
jobs:
  only:
    outputs: [key]
    artifacts: ['file-*']
    steps:
      - run: |
          echo "the key is $SHARED"
          printf '%s' "\${SHARED:0:5}"; sleep 0.5; printf '%s\\n' "\${SHARED:5}"
          echo "key=$SHARED" >> "$LONGHAUL_OUTPUT"
          touch "file-$SHARED"
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
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('a secret is seen by the step and by nobody else', async () => {
  const token = await project.client.start('secretive');
  const result = await project.finish(token);
  expect(result.structuredContent).toEqual({ key: '***' });
  const children = await project.children(token);
  expect(children[0].artifacts).toMatchObject([{ name: 'only/file-***' }]);
  expect(stepLogText(process.env['LONGHAUL_HOME']!, token, 'only', 1)).toBe('the key is ***\n***\n');
  const { events } = await (await project.parts.temporal()).workflow.getHandle(token).fetchHistory();
  const start = SHARED_SECRET.slice(0, 6);
  expect(JSON.stringify(events)).not.toContain(start);
  expect(JSON.stringify(events)).not.toContain(Buffer.from(start).toString('base64').slice(0, 7));
});

test('a secret that is missing fails the job before its first step, and says what to set', async () => {
  const result = await project.finish(await project.client.start('missing_secret'));
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('LONGHAUL_SECRET_NOT_SET_ANYWHERE');
});
