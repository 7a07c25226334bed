import { expect, test } from '@jest/globals';
import { CUT_MARK, INPUT_MEMO_BYTES, publishedState } from '../../operations/wire/state.js';
import { FIELDS, WAYS } from '../fixtures/project/tools/sized_state.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const KIB = 1024;
const SIZES = [3 * KIB, 65 * KIB, 257 * KIB, 3 * KIB * KIB];
/** Bounds of the memo's fields, with the payload's own overhead. Those missing are in storage, or small. */
const BOUNDS: Record<string, number> = { operation_input: INPUT_MEMO_BYTES };
const SMALL_BYTES = 2 * KIB;

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;
const temporal = await parts.temporal();

const CASES = SIZES.flatMap((bytes) => WAYS.map((way) => ({ bytes, way })));

test.each(FIELDS)('the state stays readable and small with a %s of any size', async (field) => {
  const started = await Promise.all(
    CASES.map(async (one) => ({ ...one, id: await jobs.start('sized_state', { field, ...one }) })),
  );
  for (const { id, bytes, way } of started) {
    const isRefused = (field === 'question' || field === 'schema') && bytes > 32 * KIB;
    const job = await reached(id, field, bytes, isRefused ? 'closed' : way);
    if (isRefused) expect(job.error).toMatchObject({ type: 'too_large' });
    await expectSmallMemo(id);
    if (['stage', 'message', 'partial'].includes(field))
      await eventually('its state is written', async () => publishedState(await memoOf(id)));
    expectMark(job, field, bytes, await memoOf(id));
    expect((await jobs.get(`/v1/jobs/${id}/steps`)).status).toBeLessThan(500);
    expect(await parts.client.request('tasks/get', { taskId: id })).not.toHaveProperty('error');
  }
  await expectListed(started.map(({ id }) => id));
  const open = started.filter(({ way }) => way !== 'closed');
  for (const { id } of open) await jobs.post(`/v1/jobs/${id}:cancel`);
  for (const { id } of open) {
    await jobs.until(id, ({ status }) => status === 'canceled' || status === 'failed');
    await expectSmallMemo(id);
  }
  await expectListed(started.map(({ id }) => id));
});

/** Waits until the field is written, and has an answer where it asks for one. */
async function reached(id: string, field: string, bytes: number, way: string): Promise<any> {
  if (way === 'closed' && field !== 'answers') return jobs.until(id, 'failed');
  if (field === 'answers') await answer(id, bytes);
  if (way === 'closed') return jobs.until(id, 'failed');
  if (way === 'continued')
    await eventually('it has continued', async () => {
      const { raw } = await temporal.workflow.getHandle(id).describe();
      return raw.workflowExecutionInfo?.firstRunId !== raw.workflowExecutionInfo?.execution?.runId;
    });
  return jobs.until(id, ({ status }) => status === 'running');
}

async function answer(id: string, bytes: number): Promise<void> {
  const job = await jobs.until(id, ({ input_required: asked }) => asked);
  const [key] = Object.keys(job.input_required.requests);
  const value = { note: 'n'.repeat(Math.min(bytes, 300 * KIB)) };
  const { status } = await jobs.post(`/v1/jobs/${id}/input`, { key, value });
  expect([200, 202]).toContain(status);
}

async function memoOf(id: string): Promise<Record<string, unknown>> {
  return (await temporal.workflow.getHandle(id).describe()).memo!;
}

async function expectSmallMemo(id: string): Promise<void> {
  const { raw } = await temporal.workflow.getHandle(id).describe();
  for (const [name, { data }] of Object.entries(raw.workflowExecutionInfo!.memo!.fields!))
    if (name.startsWith('operation'))
      expect([name, data!.length <= (BOUNDS[name] ?? SMALL_BYTES)]).toEqual([name, true]);
}

function expectMark(job: any, field: string, bytes: number, memo: Record<string, unknown>): void {
  const state = publishedState(memo)!;
  if (field === 'stage') expect(state.stage!.endsWith(CUT_MARK)).toBe(true);
  if (field === 'message') expect(state.progress!.message!.endsWith(CUT_MARK)).toBe(true);
  if (field === 'partial') expect(state.claims!.operation_partial!.bytes).toBeGreaterThan(bytes);
  expect(JSON.stringify(job).length).toBeLessThan(8 * 1024 * KIB);
}

async function expectListed(ids: string[]): Promise<void> {
  await eventually('all are listed', async () => {
    const { status, body } = await jobs.get('/v1/jobs?tool=sized_state&limit=100');
    expect(status).toBe(200);
    const listed = new Set(body.jobs.map((job: any) => job.job_id));
    return ids.every((id) => listed.has(id));
  });
}
