import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { msToTs } from '@temporalio/common/lib/time.js';
import { ERROR_KINDS } from '../../operations/errors.js';
import { check } from '../../operations/tool/schema.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { startBrowser } from '../support/browser.js';
import { forAllTests, forThisTest } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { expectProblem } from './support.js';
import { JobsClient } from '../support/jobs.js';

const UNKNOWN = `/v1/jobs/${'0'.repeat(32)}`;

const parts = await forAllTests(
  TestStack.serverOnSharedWorker({ LONGHAUL_KICKOFFS_PER_MINUTE: '3', LONGHAUL_STATUS_PER_MINUTE: '5' }),
);
const { jobs } = parts;

/** Starts another server of the same stack with other settings. */
async function server(environment: Record<string, string>): Promise<{ client: JobsClient; part: Part }> {
  const port = await freePort();
  const part = parts.server({ LONGHAUL_PORT: String(port), ...environment });
  const client = new JobsClient(`http://127.0.0.1:${port}`);
  await eventually('it is connected', async () => {
    const { body } = await client.get('/readyz').catch(() => ({ body: undefined }));
    return body && !JSON.stringify(body).includes('not connected');
  });
  return { client, part };
}

test('kickoffs and looks are limited, and say what is left', async () => {
  const answers = [];
  for (let call = 0; call < 4; call += 1) answers.push(await jobs.kickOff('greet', { name: 'Ada' }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(answers[0]!.headers.get('ratelimit-policy')).toBe('"kickoff";q=3;w=60');
  expect(answers[0]!.headers.get('ratelimit')).toMatch(/^"kickoff";r=2;t=\d+$/);
  const refused = answers[3]!;
  expectProblem(refused, 'rate-limited', 429);
  expect(refused.body.retryable).toBe(true);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('ratelimit')).toMatch(/^"kickoff";r=0;t=\d+$/);

  const looks = [];
  for (let call = 0; call < 6; call += 1) looks.push(await jobs.get(UNKNOWN));
  expect(looks.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429]);
  expect(looks[0]!.headers.get('ratelimit-policy')).toBe('"status";q=5;w=60');
  // Cancelling is not rate-limited.
  expectProblem(await jobs.request('DELETE', UNKNOWN), 'job-not-found', 404);
  const { body } = await jobs.get('/openapi.json');
  expect(body['x-rate-limits']).toEqual({
    window_seconds: 60,
    kickoff: 3,
    status: 5,
    scope: 'caller and server process',
  });
});

test('the document is OpenAPI 3.1, with each tool, its arguments and rules, and every problem', async () => {
  const { status, body } = await jobs.get('/openapi.json');
  expect(status).toBe(200);
  expect(body.openapi).toBe('3.1.0');
  const { post } = body.paths['/v1/tools/json_schema_2020_12_tool/jobs'];
  expect(post['x-longhaul']).toEqual(expect.any(Object));
  const { $ref } = post.requestBody.content['application/json'].schema;
  // References within a tool's own schema resolve in the document.
  const at = (pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .reduce((value: any, key) => value?.[decodeURIComponent(key)], body);
  const references = [...JSON.stringify(at($ref)).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to!);
  for (const pointer of [$ref, ...references]) expect(at(pointer)).toEqual(expect.anything());
  expect(check(body.components.schemas.JobStatus, 'timed_out', 'status')).toEqual([]);
  expect(body.components.schemas.JobStatus['x-terminal']).toContain('timed_out');
  expect(body.components.schemas.JobError.properties.kind.enum).toEqual([...ERROR_KINDS]);

  const { body: table } = await jobs.get('/problems');
  expect(body['x-problems']).toEqual(table.problems);
  for (const problem of table.problems) {
    expect(body.info.description).toContain(`| ${problem.type} | ${problem.status} |`);
    expect((await jobs.get(problem.type)).body).toEqual(problem);
  }
});

test(
  'the page shows the tools, loads nothing from elsewhere, and keeps to its policy',
  async () => {
    const browser = await forThisTest(startBrowser());

    const page = await browser.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (one) => asked.push(one.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    const opened = await page.goto(`${parts.base}/docs`);
    const policy = opened!.headers()['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    await page.getByText('/v1/tools/greet/jobs').first().waitFor();
    expect(complaints).toEqual([]);
    expect(asked.filter((url) => !url.startsWith(parts.base) && !url.startsWith('data:'))).toEqual([]);
  },
  INSTALL_MS,
);

test('a namespace that keeps closed workflows for less than a day is said aloud', async () => {
  const namespace = `short-${randomUUID()}`;
  const temporal = await parts.temporal();
  await temporal.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1h'),
  });
  const { client, part } = await server({ TEMPORAL_NAMESPACE: namespace, LONGHAUL_LOG_LEVEL: 'warn' });
  const warning = 'keeps closed workflows for only 60 min';
  await eventually('the server has said it', () => part.output().includes(warning));
  const { body } = await client.get('/openapi.json');
  expect(body.info.description).toContain(warning);
  expect((await jobs.get('/openapi.json')).body.info.description).not.toContain('only');
});
