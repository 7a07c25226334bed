/**
 * Takes the pictures of docs/temporal-ui.md, docs/pipelines.md and docs/replay.md: a stack of its own, one operation of
 * analyze_dataset, seen while it waits for an answer and at its end, one that works, a pipeline of the examples, and one that fails.
 * Run it from the checkout's root, after a build: `node test/docs-screenshots.js`, or with the names of some pictures. The pipeline of
 * the examples needs npm's registry.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { open, PicturedStack, tabsOf, take, withPage } from './screenshots.js';

const PACKAGES = ['is-number@7.0.0', 'is-odd@3.0.1'];
const CALL = { path: 'flights-3m.parquet', profile: true, limit: 5, ask_over_mb: 0 };

/** A pipeline whose second step fails twice. */
const RELEASE = `description: Builds and publishes a release.
jobs:
  build:
    steps:
      - { name: Compile, run: 'seq 3 | sed "s/^/compiled module /"' }
      - { name: Publish, retry: { attempts: 2 }, idempotent: true, run: 'echo "no such remote"; exit 3' }
`;

const home = mkdtempSync(join(tmpdir(), 'longhaul-screenshots-'));
const pipelines = join(home, 'pipelines');
mkdirSync(pipelines);
writeFileSync(join(pipelines, 'release.yml'), RELEASE);
const stack = await PicturedStack.start(home, {
  // For an activity that takes its time.
  LONGHAUL_PROJECT: 'test/fixtures/project',
  LONGHAUL_PIPELINE_FOLDERS: ['examples/pipelines', pipelines].join(delimiter),
  LONGHAUL_SECRET_SIGNING_KEY: 'only for a picture',
});
try {
  await withPage((page) => takeAll(page, stack.workflows));
} finally {
  await stack.stop();
}

async function takeAll(page, workflows) {
  const longhaul = (...args) => stack.longhaul(args, JSON.stringify(CALL));
  const until = (token, status) => stack.until(token, status);
  const token = await longhaul('call', 'analyze_dataset', '--detach', '--args', '-');
  await until(token, 'input_required');
  const tab = await tabsOf(page, `${workflows}/${token}`);

  await open(page, 'waiting', 'Event History', tab('history'), 1060);
  await open(page, 'memo', 'inputRequests', tab('memo'), 1060);
  await open(page, 'search-attributes', 'LonghaulTool', tab('search-attributes'), 660);

  await page.setViewportSize({ width: 1280, height: 400 });
  await page.goto(`${workflows}?query=${encodeURIComponent('LonghaulStatus="input_required"')}`);
  // The column with the workflow type needs the room of the list of views.
  await page.getByText('Saved Views').locator('..').getByRole('button').click();
  await take(page, 'list', 'analyze_dataset');

  await longhaul('answer', token, '--field', 'write=true');
  await until(token, 'completed');
  await open(page, 'completed', 'Event History', tab('history'), 1060);

  const working = await longhaul('call', 'slow_compute', '--seconds', '120', '--detach');
  const workingTab = await tabsOf(page, `${workflows}/${working}`);
  await open(page, 'heartbeat', 'countPrimes', workingTab('pending-activities'), 760);

  const pipeline = await longhaul(
    'call',
    'sign_packages',
    '--packages',
    JSON.stringify(PACKAGES),
    '--detach',
  );
  await until(pipeline, 'input_required');
  const pipelineTab = await tabsOf(page, `${workflows}/${pipeline}`);
  await open(page, 'pipeline', 'sign / list', pipelineTab('history'), 960);

  const failed = await longhaul('call', 'release', '--detach');
  await until(failed, 'failed');
  const failedTab = await tabsOf(page, `${workflows}/${failed}`);
  await open(page, 'failed', 'no such remote', failedTab('history'), 860);
  console.log(await longhaul('history', failed));
}
