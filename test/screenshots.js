/** Pictures of Temporal's UI for the documents: a stack, its command line, and a browser. CHROMIUM names the browser; default: /usr/bin/chromium. */
import { execFile, spawn } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const IMAGES = 'docs/images';
const LIMIT_BYTES = 150_000;
const MAIN = resolve('dist/bin/longhaul.js');
/** Names of the pictures to take; empty for all. */
const ONLY = process.argv.slice(2);

export function isWanted(name) {
  return ONLY.length === 0 || ONLY.includes(name);
}

/** A stack on ports of its own, ended and removed by `stop`. */
export class PicturedStack {
  /** @param cwd working folder: with a `longhaul.config.js`, its project */
  static async start(home, settings, cwd = '.') {
    const env = {
      ...process.env,
      LONGHAUL_HOME: home,
      LONGHAUL_PORT: String(await freePort()),
      LONGHAUL_TEMPORAL_PORT: String(await freePort()),
      ...settings,
    };
    const process_ = spawn(process.execPath, [MAIN, 'up'], {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const stack = new PicturedStack(home, env, process_);
    await said(process_, 'Longhaul is ready');
    return stack;
  }

  constructor(home, env, process_) {
    Object.assign(this, { home, env, process: process_ });
    this.ended = new Promise((settle) => process_.once('close', settle));
  }

  /** Address of the list of workflows in Temporal's UI. */
  get workflows() {
    const { temporalUiUrl } = JSON.parse(readFileSync(join(this.home, 'stack.json'), 'utf8'));
    return `${temporalUiUrl}/namespaces/default/workflows`;
  }

  /** Runs a command. @param input its standard input */
  async longhaul(args, input = '') {
    const running = promisify(execFile)(process.execPath, [MAIN, ...args], { env: this.env });
    running.child.stdin.end(input);
    return (await running).stdout.trim();
  }

  async until(token, status) {
    for (const end = Date.now() + 120_000; Date.now() < end; await sleep(200)) {
      // It exits with 1 for a failed operation.
      const shown = await this.longhaul(['status', token, '--json']).catch(({ stdout }) => stdout);
      if (JSON.parse(shown).status === status) return;
    }
    throw new Error(`${token}: not ${status} within two minutes`);
  }

  async stop() {
    this.process.kill('SIGTERM');
    await this.ended;
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Calls back with a page of a browser. */
export async function withPage(use) {
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
    return await use(await browser.newPage({ viewport: { width: 1280, height: 800 } }));
  } finally {
    await browser.close();
  }
}

/** The addresses of an operation's tabs, by name; they contain the run's ID, which the UI knows. */
export async function tabsOf(page, url) {
  await page.goto(url);
  await page.waitForURL(/\/history$/);
  const operation = page.url().replace(/\/history$/, '');
  return (name) => `${operation}/${name}`;
}

/** Opens a page and takes a picture of it. */
export async function open(page, name, text, url, height) {
  if (!isWanted(name)) return;
  await page.setViewportSize({ width: 1280, height });
  await page.goto(url);
  await take(page, name, text);
}

/** Takes a picture once a text is to be seen. */
export async function take(page, name, text) {
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
