/** Screens a library as an agent does it: over stdio, with tools alone. Prints each call and its answer. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { moleculeLine } from './lib/enumerate.js';

/** @typedef {Record<string, any>} Answer */

const LONGHAUL = 'node_modules/longhaul/dist/bin/longhaul.js';
const QUERY = 'NC(=O)c1ccc(N2CCOCC2)cc1';
const ENDS = ['\n', '\r\n', '\r'];
const BROKEN = ['C1CC', 'c1cccc1', 'C(C)(C)(C)(C)C', 'hello'];

const env = /** @type {Record<string, string>} */ ({ ...process.env, NODE_OPTIONS: '' });
const run = promisify(execFile);
const longhaul = async (/** @type {string[]} */ ...args) =>
  (await run(process.execPath, [LONGHAUL, ...args], { env, maxBuffer: 2 ** 26 })).stdout;

await writeLibrary('output/library.smi', 5_000);
const client = new Client({ name: 'screening-demo', version: '0.1.0' });
// Starts Temporal, a worker and a server if none run; they outlive this client.
const args = [LONGHAUL, 'stdio', '--project', '.'];
process.once('exit', () =>
  spawnSync(process.execPath, [LONGHAUL, 'down', '--project', '.'], { env, stdio: 'ignore' }),
);
process.once('SIGINT', () => process.exit(130));
try {
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));

  heading('A query that is no molecule is refused before the file is read');
  const bad = await call('screen_molecules', { path: 'output/library.smi', query: 'C1CC' }, () => undefined);
  await wait(bad.token, ({ status, error }) => ({ status, error }));

  heading('A screening');
  const question = { path: 'output/library.smi', query: QUERY, minSimilarity: 0.4, top: 3 };
  const { token } = await call('screen_molecules', question);

  heading('In the middle of it, the best hits so far');
  /** @type {Answer | undefined} */
  let partial;
  const look = { token, view: 'partial' };
  while (!partial?.best.length) {
    await sleep(500);
    const { structuredContent } = await client.callTool({ name: 'operation_get', arguments: look });
    partial = /** @type {Answer} */ (structuredContent).partial;
  }
  console.log(`> operation_get ${JSON.stringify(look)}\n${JSON.stringify(partial, null, 2)}`);

  heading('The result');
  await wait(token, ({ status }) => ({ status }));
  await call('operation_get', { token, view: 'result' }, ({ result }) => result);

  heading('The tables');
  for (const name of ['table.csv', 'bad-lines.csv']) {
    console.log(`$ longhaul get ${token} ${name} | head -4`);
    const lines = (await longhaul('get', token, name)).split('\n');
    console.log(lines.slice(0, 4).join('\n'));
  }
} finally {
  await client.close();
}

/**
 * A library as it may come from others: three kinds of line ends, a line in a thousand that is broken, no end of the last line.
 *
 * @param {string} path
 * @param {number} count
 */
async function writeLibrary(path, count) {
  let text = '';
  for (let index = 0; index < count; index += 1) {
    const isBroken = index % 1_000 === 500;
    const line = isBroken ? BROKEN[Math.floor(index / 1_000) % BROKEN.length] : moleculeLine(index);
    text += `${index === 0 ? '' : ENDS[index % 3]}${line}`;
  }
  await mkdir('output', { recursive: true });
  await writeFile(path, text);
  console.log(`${path}: ${count} lines`);
}

/**
 * Waits until the operation has ended. A wait is shorter than the client's time limit, and is repeated.
 *
 * @param {string} token
 * @param {(answer: Answer) => unknown} shown
 */
async function wait(token, shown) {
  const args = { token, wait: true, timeout: 50 };
  const isOpen = (/** @type {Answer} */ { status }) => status === 'queued' || status === 'running';
  for (;;) {
    const answer = await call('operation_get', args, (one) => (isOpen(one) ? undefined : shown(one)));
    if (!isOpen(answer)) return answer;
  }
}

/**
 * Calls a tool, and prints it with what `shown` takes of its answer.
 *
 * @param {string} name
 * @param {Record<string, unknown>} args
 * @param {(answer: Answer) => unknown} shown
 * @returns {Promise<Answer>}
 */
async function call(name, args, shown = (answer) => answer) {
  console.log(`> ${name} ${JSON.stringify(args)}`);
  const { structuredContent, content } = await client.callTool({ name, arguments: args });
  const answer = /** @type {Answer} */ (structuredContent ?? content[0]);
  const visible = shown(answer);
  if (visible !== undefined) console.log(JSON.stringify(visible, null, 2));
  return answer;
}

/** @param {string} text */
function heading(text) {
  console.log(`\n--- ${text}`);
}
