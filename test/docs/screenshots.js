/**
 * Takes the pictures of docs/temporal-ui.md: a stack of its own, one operation of analyze_dataset, seen while it waits
 * for an answer and at its end. Run it from the checkout's root, after a build: `node test/docs/screenshots.js`.
 * CHROMIUM names the browser; default: /usr/bin/chromium.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const IMAGES = 'docs/images';
const LIMIT_BYTES = 150_000;
const MAIN = 'dist/cli/main.js';
const CALL = {
  path: 'flights-3m.parquet',
  filters: [{ column: 'distance', op: 'ge', value: 500 }],
  group_by: ['origin'],
  aggregates: [{ fn: 'count' }, { fn: 'avg', column: 'delay' }],
  order_by: [{ column: 'avg_delay', direction: 'desc' }],
  limit: 5,
  profile: true,
  ask_over_mb: 0,
};

const home = mkdtempSync(join(tmpdir(), 'longhaul-screenshots-'));
const env = {
  ...process.env,
  LONGHAUL_HOME: home,
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
    await page.goto(`${workflows}/${token}`);
    await page.waitForURL(/\/history$/);
    const operation = page.url().replace(/\/history$/, '');
    const tab = (name) => `${operation}/${name}`;

    await take(page, 'waiting', 'Event History', tab('history'), 1000);
    await take(page, 'memo', 'inputRequests', tab('memo'), 1000);
    await take(page, 'search-attributes', 'LonghaulTool', tab('search-attributes'), 700);

    await take(
      page,
      'list',
      'LonghaulStatus',
      `${workflows}?query=${encodeURIComponent("LonghaulStatus='input_required'")}`,
      420,
    );

    await longhaul('answer', token, '--field', 'write=true');
    await until(token, 'completed');
    await take(page, 'completed', 'Event History', tab('history'), 1000);
  } finally {
    await browser.close();
  }
}

/** Takes a picture of a page once a text is to be seen on it. */
async function take(page, name, text, url, height) {
  await page.setViewportSize({ width: 1280, height });
  await page.goto(url);
  await page.getByText(text).first().waitFor();
  // The timeline and the editors are drawn after their texts.
  await page.waitForTimeout(2_000);
  const path = join(IMAGES, `${name}.png`);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > LIMIT_BYTES) console.log(`${path}: expected at most ${LIMIT_BYTES} bytes; got ${size}`);
  console.log(`${path} ${size} bytes`);
}

/** Runs a command on the stack; the call's arguments are on its standard input. */
async function longhaul(...args) {
  const running = promisify(execFile)(process.execPath, [MAIN, ...args], { env });
  running.child.stdin.end(JSON.stringify(CALL));
  return (await running).stdout.trim();
}

async function until(token, status) {
  for (
    const end = Date.now() + 60_000;
    Date.now() < end;
    await new Promise((wake) => setTimeout(wake, 200))
  ) {
    if (JSON.parse(await longhaul('status', token, '--json')).status === status) return;
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
