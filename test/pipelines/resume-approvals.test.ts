/** A resume passes no approval: what runs behind one was approved for the same inputs, by others than who gave them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { workflowIdOf } from '../../operations/token.js';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { loadSecret } from '../../platform/home/secret.js';
import { JobsClient } from '../support/jobs.js';
import { OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import { PipelineProject } from './support.js';

jest.setTimeout(OUTAGE_MS);

const INPUTS = `
inputs:
  properties: { ledger: { type: string }, version: { type: string, default: '1' } }
  required: [ledger]
`;
const APPROVAL = 'approval: { message: Publish?, approvers: [manager], four-eyes: true }';
const publish = (name = 'publish') => `
      - name: ${name}
        run: |
          echo "${name} $INPUT_VERSION" >> "$INPUT_LEDGER"
          [ ! -e "$INPUT_LEDGER.broken" ]`;
const PIPELINES = {
  own_step: `${INPUTS}
jobs:
  a:
    steps:
      - { name: build, run: 'echo build >> "$INPUT_LEDGER"' }
      - { name: gate, ${APPROVAL} }${publish()}
`,
  in_step: `${INPUTS}
jobs:
  a:
    steps:
      - name: sign
        ${APPROVAL}
        run: echo "sign $INPUT_VERSION" >> "$INPUT_LEDGER"${publish()}
`,
  own_job: `${INPUTS}
jobs:
  gate: { steps: [{ name: ask, ${APPROVAL} }] }
  between: { needs: gate, steps: [{ name: pack, run: 'echo pack >> "$INPUT_LEDGER"' }] }
  a:
    needs: between
    steps:${publish()}
`,
};

const folder = mkdtempSync(join(tmpdir(), 'longhaul-approvals-'));
const POLICY = `
roles:
  manager: { members: [{ group: managers }], tools: ['*'], own: [operate], tenant: [operate] }
  helper: { members: [{ group: helpers }], tenant: [read, resume] }
`;
/** Two that may approve, beside the one that starts; the last one may start nothing. */
const keys = { alice: '', bob: '', carol: '', dave: '' };
let project: PipelineProject;
beforeAll(async () => {
  for (const subject of ['alice', 'bob', 'carol', 'dave'] as const)
    [keys[subject]] = addApiKey(folder, {
      tenant: 'acme',
      subject,
      groups: [subject === 'dave' ? 'helpers' : 'managers'],
    });
  writeFileSync(join(folder, 'policy.yml'), POLICY);
  project = await PipelineProject.shared(PIPELINES, {
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: folder,
    LONGHAUL_POLICY: join(folder, 'policy.yml'),
  });
}, PROCESSES_MS);
afterAll(async () => {
  await project?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Subject = keyof typeof keys;
/** A job of alice, as she and others name it. */
const named = (id: string, by: Subject) =>
  by === 'alice' ? id : workflowIdOf('acme/alice', id, loadSecret(process.env['LONGHAUL_HOME']!));
const as = (by: Subject) => new JobsClient(project.parts.base, keys[by]);
const alice = () => as('alice');

const start = (pipeline: string, ledger: string): Promise<string> =>
  alice().start(pipeline, { ledger: join(project.ledgers, ledger) });
async function question(id: string): Promise<string> {
  const { input_required } = await alice().until(id, (job) => job.input_required);
  return Object.keys(input_required.requests)[0]!;
}
async function answer(id: string, by: Subject, approve: boolean): Promise<number> {
  const key = await question(id);
  return (await as(by).post(`/v1/jobs/${named(id, by)}/input`, { key, value: { approve } })).status;
}
async function resume(id: string, body: object, by: Subject = 'alice'): Promise<string> {
  const { status, body: job } = await as(by).post(`/v1/jobs/${named(id, by)}:resume`, body);
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(job)}`);
  return job.job_id.replace(/^.*\./, '');
}
async function cancelAtQuestion(id: string): Promise<void> {
  await question(id);
  await alice().post(`/v1/jobs/${id}:cancel`);
  await alice().until(id, 'canceled');
}
/** The step `publish` fails while there is this file. */
const broken = (ledger: string) => join(project.ledgers, `${ledger}.broken`);
const published = (ledger: string) => project.lines(ledger).filter((line) => line.startsWith('publish'));

describe.each([
  ['a step of its own', 'own_step', 'a/publish'],
  ['in a step that runs a script', 'in_step', 'a/publish'],
])('an approval as %s', (_what, pipeline, behind) => {
  test('that was canceled at its question is asked for by a resume from behind it', async () => {
    const ledger = `${pipeline}-canceled`;
    const first = await start(pipeline, ledger);
    await cancelAtQuestion(first);
    const second = await resume(first, { from: behind, changes: { version: 'other' } });
    await question(second);
    expect(published(ledger)).toEqual([]);
    expect(await answer(second, 'bob', true)).toBeLessThan(300);
    await alice().until(second, 'succeeded');
    expect(published(ledger)).toEqual(['publish other']);
    expect(project.lines(ledger)).not.toContain('sign other');
  });

  test('that was given holds for the same inputs, and for no others', async () => {
    const ledger = `${pipeline}-given`;
    writeFileSync(broken(ledger), '');
    const first = await start(pipeline, ledger);
    await answer(first, 'bob', true);
    await alice().until(first, 'failed');
    rmSync(broken(ledger));
    const same = await resume(first, {});
    await alice().until(same, 'succeeded');
    expect(published(ledger)).toEqual(['publish 1', 'publish 1']);
    // The approved run again, from behind the approval, with other arguments.
    const other = await resume(same, { from: behind, changes: { version: '2' } });
    await answer(other, 'bob', false);
    await alice().until(other, 'failed');
    const third = await resume(other, { from: behind });
    await answer(third, 'carol', true);
    await alice().until(third, 'succeeded');
    expect(published(ledger)).toEqual(['publish 1', 'publish 1', 'publish 2']);
    if (pipeline === 'in_step')
      expect(project.lines(ledger).filter((line) => line.startsWith('sign'))).toEqual(['sign 1']);
  });
});

test('an approval as a job of its own is asked for again before jobs behind it run with other inputs', async () => {
  const ledger = 'own_job';
  const first = await start('own_job', ledger);
  await answer(first, 'bob', true);
  await alice().until(first, 'succeeded');
  const second = await resume(first, { from: 'a/publish', changes: { version: '2' } });
  await answer(second, 'bob', false);
  const { error } = await alice().until(second, 'failed');
  expect(JSON.stringify(error)).toContain('gate: step \\"ask\\" was not approved');
  const third = await resume(second, { from: 'a/publish' });
  await answer(third, 'bob', true);
  await alice().until(third, 'succeeded');
  expect(published(ledger)).toEqual(['publish 1', 'publish 2']);
  expect(project.lines(ledger).filter((line) => line === 'pack')).toHaveLength(2);
});

test('who changed arguments in a resume may not approve them, nor in a resume of that', async () => {
  const first = await start('own_step', 'four-eyes');
  await cancelAtQuestion(first);
  const second = await resume(first, { changes: { version: 'of bob' } }, 'bob');
  expect(await answer(second, 'bob', true)).toBe(403);
  expect(await answer(second, 'alice', true)).toBe(403);
  await cancelAtQuestion(second);
  const third = await resume(second, {});
  expect(await answer(third, 'bob', true)).toBe(403);
  expect(published('four-eyes')).toEqual([]);
  expect(await answer(third, 'carol', true)).toBeLessThan(300);
  await alice().until(third, 'succeeded');
  expect(published('four-eyes')).toEqual(['publish of bob']);
});

test('who resumed without changes may approve', async () => {
  const first = await start('own_step', 'unchanged');
  await cancelAtQuestion(first);
  const second = await resume(first, {}, 'bob');
  expect(await answer(second, 'bob', true)).toBeLessThan(300);
  await alice().until(second, 'succeeded');
});

test('who may not start a pipeline may resume it, and change none of its arguments', async () => {
  const first = await start('own_step', 'helped');
  await cancelAtQuestion(first);
  const refused = await as('dave').post(`/v1/jobs/${named(first, 'dave')}:resume`, {
    changes: { version: '2' },
  });
  expect([refused.status, refused.body.type]).toEqual([403, '/problems/not-allowed']);
  expect(refused.body.detail).toContain('start own_step, to resume it with other arguments');
  const second = await resume(first, {}, 'dave');
  await answer(second, 'bob', true);
  await alice().until(second, 'succeeded');
  expect(published('helped')).toEqual(['publish 1']);
});
