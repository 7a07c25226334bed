/** A browser for tests of pages: Debian's Chromium, installed where it is missing. CHROMIUM names another one. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { INSTALL_LIMIT_MS } from './install-once.js';

const DEBIAN = '/usr/bin/chromium';
/** Needs root, or sudo. A test file that comes while another one installs it waits. */
const INSTALL = `
test -x ${DEBIAN} && exit
apt-get update
apt-get install -y --no-install-recommends chromium
`;

/** @param args arguments beside those of Playwright */
export async function startBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? DEBIAN;
  if (executablePath === DEBIAN && !existsSync(DEBIAN)) await install();
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}

async function install(): Promise<void> {
  const root = process.getuid?.() === 0 ? [] : ['sudo'];
  const lock = join(tmpdir(), 'longhaul-chromium.lock');
  const [command, ...args] = [...root, 'flock', lock, 'sh', '-e', '-c', INSTALL];
  await promisify(execFile)(command, args, { timeout: INSTALL_LIMIT_MS });
}
