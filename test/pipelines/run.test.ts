/** Runs of pipelines: values, conditions, retries, approvals and secrets. */
import { describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { stepLogText } from '../support/stored-log.js';
import { SHARED_SECRET } from '../support/test-stack.js';
import { LEDGER, PipelineProject, stepStatuses, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINES = {
  everything: `
description: Uses most of the language.
inputs:
  properties:
    name: { type: string }
    items: { type: array, items: { type: object } }
    loud: { type: boolean, default: false }
  required: [name, items]
env: { WHO: pipeline, LEVEL: pipeline }
outputs:
  greeting: prepare.greeting
  sizes: { value: measure.size, type: integer, description: The size of each item. }
  summary: { value: collect.summary, type: object }
jobs:
  prepare:
    env: { LEVEL: job }
    outputs: [greeting, several]
    artifacts: [out]
    steps:
      - name: Write
        env: { LEVEL: step }
        run: |
          mkdir out
          echo "$WHO $LEVEL $INPUT_NAME $INPUT_LOUD" > out/levels.txt
          echo "greeting=hello $INPUT_NAME" >> "$LONGHAUL_OUTPUT"
          printf 'several<<END\\none\\ntwo\\nEND\\n' >> "$LONGHAUL_OUTPUT"
      - name: Below
        working-directory: out
        run: test -f levels.txt && pwd | grep -q '/out$'
  measure:
    needs: prepare
    for-each: items
    outputs: [size]
    artifacts: ['*.json']
    steps:
      - run: |
          printf '%s' "$LONGHAUL_ITEM" > item.json
          echo "size=$(wc -c < item.json | tr -d ' ')" >> "$LONGHAUL_OUTPUT"
  collect:
    needs: [prepare, measure]
    outputs: [summary]
    steps:
      - run: |
          levels=$(cat "$LONGHAUL_ARTIFACTS/prepare/out/levels.txt")
          second=$(cat "$LONGHAUL_ARTIFACTS/measure/1/item.json")
          node -e '
            const inputs = JSON.parse(require("fs").readFileSync(process.env.LONGHAUL_INPUTS, "utf8"));
            console.log("summary=" + JSON.stringify({ levels: process.argv[1], second: process.argv[2], inputs }));
          ' "$levels" "$second" >> "$LONGHAUL_OUTPUT"
`,
  conditions: `
${LEDGER}
jobs:
  first:
    steps:
      - { name: fails and is forgiven, run: 'echo forgiven >> "$INPUT_LEDGER"; exit 3', continue-on-error: true }
      - { name: sees the failure, if: failure, run: 'echo after forgiven >> "$INPUT_LEDGER"' }
      - { name: continues, run: 'echo continues >> "$INPUT_LEDGER"' }
      - { name: fails, run: 'for i in $(seq 1 80); do echo "line $i"; done; exit 7' }
      - { name: not run, run: 'echo never >> "$INPUT_LEDGER"' }
      - { name: on failure, if: failure, run: 'echo on failure >> "$INPUT_LEDGER"' }
      - { name: in any case, if: always, run: 'echo in any case >> "$INPUT_LEDGER"' }
  second:
    needs: first
    steps: [{ run: 'echo never >> "$INPUT_LEDGER"' }]
  rescue:
    needs: [first]
    if: failure
    steps: [{ run: 'echo rescued >> "$INPUT_LEDGER"' }]
  tidy:
    needs: [second]
    if: always
    steps: [{ run: 'echo tidied >> "$INPUT_LEDGER"' }]
`,
  retried: `
${LEDGER}
outputs: { tries: only.tries }
jobs:
  only:
    outputs: [tries]
    steps:
      - name: third time lucky
        retry: { attempts: 3, backoff: 0.2 }
        run: |
          echo "try $LONGHAUL_ATTEMPT" >> "$INPUT_LEDGER"
          tries=$(wc -l < "$INPUT_LEDGER" | tr -d ' ')
          echo "tries=$tries" >> "$LONGHAUL_OUTPUT"
          test "$tries" -ge 3
`,
  big_input: `
inputs: { properties: { text: { type: string }, small: { type: string } }, required: [text] }
outputs: { length: { value: only.length, type: integer }, variable: only.variable }
jobs:
  only:
    outputs: [length, variable]
    steps:
      - run: |
          length=$(node -p 'JSON.parse(require("fs").readFileSync(process.env.LONGHAUL_INPUTS, "utf8")).text.length')
          echo "length=$length" >> "$LONGHAUL_OUTPUT"
          echo "variable=\${INPUT_TEXT-none} $INPUT_SMALL" >> "$LONGHAUL_OUTPUT"
`,
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

const project = PipelineProject.ofFile(PIPELINES);

test('a pipeline is a tool: inputs, variables, files, lists and outputs come through', async () => {
  const { result } = await project.client.request('tools/list');
  const tool = result.tools.find((one: any) => one.name === 'everything');
  expect(tool.description).toContain('Uses most of the language.');
  expect(tool.inputSchema.required).toEqual(['name', 'items']);

  const items = [{ n: 1 }, { n: 22 }, { n: 333 }];
  const token = await project.client.start('everything', { name: "Zoë's $HOME `id`", items });
  const done = await project.finish(token);
  expect(done.isError).toBeFalsy();
  expect(done.structuredContent).toEqual({
    greeting: "hello Zoë's $HOME `id`",
    sizes: items.map((item) => JSON.stringify(item).length),
    summary: {
      levels: "pipeline step Zoë's $HOME `id` false",
      second: '{"n":22}',
      inputs: { name: "Zoë's $HOME `id`", items, loud: false },
    },
  });
  const children = await project.children(token);
  expect(children.map(({ name, status }) => [name, status])).toEqual([
    ['prepare', 'completed'],
    ['measure[0]', 'completed'],
    ['measure[1]', 'completed'],
    ['measure[2]', 'completed'],
    ['collect', 'completed'],
  ]);
  expect(children[2].item).toEqual({ n: 22 });
  const uri = `longhaul://operations/${token}/artifacts/${encodeURIComponent('measure[1]/item.json')}`;
  const read = await project.client.request('resources/read', { uri });
  expect(read.result.contents[0]).toMatchObject({ mimeType: 'application/json', text: '{"n":22}' });
});

test('conditions: what runs after a failure, and what the result says of it', async () => {
  const token = await project.startOn('conditions', 'conditions');
  const result = await project.finish(token);
  expect(project.lines('conditions').sort()).toEqual(
    ['forgiven', 'after forgiven', 'continues', 'on failure', 'in any case', 'rescued', 'tidied'].sort(),
  );
  expect(result.isError).toBe(true);
  const text = textOf(result);
  expect(text).toContain('first: step "fails" failed with exit code 7');
  expect(text).toContain('line 80\n'.trim());
  expect(text).toContain('line 31');
  expect(text).not.toContain('line 30\n');
  expect(stepStatuses(await project.children(token))).toEqual({
    'first/1': 'failed',
    'first/2': 'completed',
    'first/3': 'completed',
    'first/4': 'failed',
    'first/5': 'skipped',
    'first/6': 'completed',
    'first/7': 'completed',
    'second/1': 'skipped',
    'rescue/1': 'completed',
    'tidy/1': 'completed',
  });
});

test('retry runs a step again as often as it says', async () => {
  const result = await project.finish(await project.startOn('retried', 'retried'));
  expect(result.structuredContent).toEqual({ tries: '3' });
  expect(project.lines('retried')).toEqual(['try 1', 'try 2', 'try 3']);
});

test('an input of nearly 1 MiB is in the file, and its variable is left out', async () => {
  const text = 'x'.repeat(1024 * 1024 - 100);
  const token = await project.client.start('big_input', { text, small: 'small' });
  const { structuredContent } = await project.finish(token);
  expect(structuredContent).toEqual({ length: text.length, variable: 'none small' });
});

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
