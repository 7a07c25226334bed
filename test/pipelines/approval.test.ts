import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { LEDGER, PipelineProject, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINES = {
  approved: `
${LEDGER}
jobs:
  only:
    outputs: [found]
    steps:
      - run: echo "found=three problems" >> "$LONGHAUL_OUTPUT"
      - name: Gate
        approval:
          message: Continue with these?
          fields:
            properties:
              ticket: { type: string }
              keep-logs: { type: boolean, default: true }
            required: [ticket]
        run: echo "gate $APPROVAL_TICKET $APPROVAL_KEEP_LOGS" >> "$INPUT_LEDGER"
      - run: echo "later $APPROVAL_TICKET" >> "$INPUT_LEDGER"
  yes_or_no:
    needs: only
    steps:
      - name: Sure?
        approval: { message: Really? }
      - run: echo done >> "$INPUT_LEDGER"
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

describe('approval', () => {
  const openQuestion = async (token: string) => {
    const task = await project.client.until(token, 'input_required');
    const [[key, question]] = Object.entries<any>(task.inputRequests) as [[string, any]];
    return { key, question };
  };

  test('shows what the job found, and hands the answers to the steps', async () => {
    const token = await project.startOn('approved', 'approved');
    const first = await openQuestion(token);
    expect(first.question.params.message).toContain('Continue with these?');
    expect(first.question.params.message).toContain('found: three problems');
    expect(first.question.params.requestedSchema.required).toEqual(['ticket']);
    expect((await project.children(token))[0]).toMatchObject({ status: 'input_required' });
    await project.client.answer(token, first.key, { action: 'accept', content: { ticket: 'OPS-1' } });
    const second = await project.client.until(
      token,
      (task) => task.status === 'input_required' && !(first.key in task.inputRequests),
    );
    await project.client.answer(token, Object.keys(second.inputRequests)[0]!, {
      action: 'accept',
      content: { approve: true },
    });
    expect((await project.finish(token)).isError).toBeFalsy();
    expect(project.lines('approved')).toEqual(['gate OPS-1 true', 'later OPS-1', 'done']);
  });

  test('that is declined fails the step', async () => {
    const token = await project.startOn('approved', 'declined');
    const { key } = await openQuestion(token);
    await project.client.answer(token, key, { action: 'decline' });
    const result = await project.finish(token);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('only: step "Gate" was not approved');
    expect(project.lines('declined')).toEqual([]);
  });
});
