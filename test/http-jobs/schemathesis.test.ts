import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { newNamespace } from '../support/namespace.js';
import { TestStack } from '../support/test-stack.js';
import { installSchemathesis, runSchemathesis } from './schemathesis/run.js';

const PROJECT = resolve('test/http-jobs/project');
/** Examples for each operation. */
const EXAMPLES = 25;
const MOST_MS = 480_000;
/** Maximum length of a report in the output: it repeats long requests. */
const SHOWN_CHARACTERS = 20_000;

const data = temporaryFolder('data');
const schemathesis = await inSetUp(installSchemathesis());
writeFileSync(join(data, 'some.csv'), 'a,b\n1,2\n');
// A stack of its own: generated requests list and cancel whatever its namespace has.
const parts = await forAllTests(
  TestStack.start({
    TEMPORAL_NAMESPACE: await newNamespace('schemathesis'),
    LONGHAUL_PROJECT: PROJECT,
    LONGHAUL_PIPELINE_FOLDERS: join(PROJECT, 'pipelines'),
    LONGHAUL_DATA_FOLDERS: data,
    LONGHAUL_KICKOFFS_PER_MINUTE: '1000000',
    LONGHAUL_STATUS_PER_MINUTE: '1000000',
  }),
);

test(
  'of a thousand made-up requests none finds a defect, or an answer that the document does not have',
  async () => {
    const { exitCode, examples, output } = await runSchemathesis(schemathesis, parts.base, EXAMPLES, MOST_MS);
    const lines = output.split('\n').map((line) => line.slice(0, 500));
    if (exitCode !== 0) throw new Error(lines.join('\n').slice(-SHOWN_CHARACTERS));
    expect(examples).toBeGreaterThanOrEqual(600);
  },
  MOST_MS + 10_000,
);
