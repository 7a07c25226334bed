/**
 * Takes the pictures of docs/temporal-ui.md, docs/pipelines.md and docs/replay.md: a stack of its own, one operation of
 * analyze_dataset, seen while it waits for an answer and at its end, one that works, a pipeline of the examples, and one that fails.
 * Run it from the checkout's root, after a build: `node test/docs-screenshots.js`, or with the names of some pictures. The pipeline of
 * the examples needs npm's registry.
 * CHROMIUM names the browser; default: /usr/bin/chromium.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const IMAGES = 'docs/images';
const LIMIT_BYTES = 150_000;
const MAIN = 'dist/cli/main.js';
/** Names of the pictures to take; empty for all. */
const ONLY = process.argv.slice(2);
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
const env = {
  ...process.env,
  LONGHAUL_HOME: home,
  // For an activity that takes its time.
  LONGHAUL_PROJECT: 'test/fixtures/project',
  LONGHAUL_PIPELINE_FOLDERS: ['examples/pipelines', pipelines].join(delimiter),
  LONGHAUL_SECRET_SIGNING_KEY: 'only for a picture',
  LONGHAUL_PORT: String(await freePort()),
  LONGHAUL_TEMPORAL_PORT: String(await freePort()),
};

const stack = spawn(process.execPath, [MAIN, 'up'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
const ended = new Promise((settle) => stack.once('close', settle));
try {
  await said(stack, 'Longhaul is ready');
  const { temporalUiUrl } = JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8'));
  await takeAll(temporalUiUrl);
} finally {
  stack.kill('SIGTERM');
  await ended;
  rmSync(home, { recursive: true, force: true });
}

async function takeAll(ui) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const workflows = `${ui}/namespaces/default/workflows`;
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
  } finally {
    await browser.close();
  }
}

/** The addresses of an operation's tabs, by name; they contain the run's ID, which the UI knows. */
async function tabsOf(page, url) {
  await page.goto(url);
  await page.waitForURL(/\/history$/);
  const operation = page.url().replace(/\/history$/, '');
  return (name) => `${operation}/${name}`;
}

function isWanted(name) {
  return ONLY.length === 0 || ONLY.includes(name);
}

/** Opens a page and takes a picture of it. */
async function open(page, name, text, url, height) {
  if (!isWanted(name)) return;
  await page.setViewportSize({ width: 1280, height });
  await page.goto(url);
  await take(page, name, text);
}

/** Takes a picture once a text is to be seen. */
async function take(page, name, text) {
  if (!isWanted(name)) return;
  await page.getByText(text).first().waitFor();
  // The timeline and the editors are drawn after their texts.
  await page.waitForTimeout(2_000);
  const path = join(IMAGES, `${name}.png`);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > LIMIT_BYTES) throw new Error(`${path}: expected at most ${LIMIT_BYTES} bytes; got ${size}`);
  console.log(`${path} ${size} bytes`);
}

/** Runs a command on the stack; the call's arguments are on its standard input. */
async function longhaul(...args) {
  const running = promisify(execFile)(process.execPath, [MAIN, ...args], { env });
  running.child.stdin.end(JSON.stringify(CALL));
  return (await running).stdout.trim();
}

async function until(token, status) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(200)) {
    // It exits with 1 for a failed operation.
    const shown = await longhaul('status', token, '--json').catch(({ stdout }) => stdout);
    if (JSON.parse(shown).status === status) return;
  }
  throw new Error(`${token}: not ${status} within a minute`);
}

function said(child, text) {
  return new Promise((settle, refuse) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes(text)) settle();
    });
    child.once('close', () => refuse(new Error(`it ended: ${output}`)));
  });
}

function freePort() {
  return new Promise((settle) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => settle(port));
    });
  });
}
