/* global fetch */
/** Prints what README.md shows: starts the systems and a stack, calls the tool by the command line, and ends all of it. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const CONTROL = 'http://127.0.0.1:7443';
const run = promisify(execFile);

/** Runs the command line. @returns its output; of work that failed, the error that it prints */
async function longhaul(...args) {
  const { stdout, stderr } = await run('node_modules/.bin/longhaul', args).catch((error) => error);
  return stdout.trim() || stderr.trim();
}

/** Runs the command line, and prints command and output. */
async function show(...args) {
  const words = args.map((word) => (/[^\w./=:-]/.test(word) ? `'${word}'` : word));
  console.log(`$ longhaul ${words.join(' ')}`);
  const output = await longhaul(...args);
  console.log(`${output}\n`);
  return output;
}

/** Waits until the open operation's state, as `longhaul status --json` prints it, holds. */
async function until(token, holds) {
  for (;;) {
    const task = JSON.parse(await longhaul('status', token, '--json'));
    if (holds(task)) return;
    if (!/working|input_required/.test(task.status)) throw new Error(`${token} is ${task.status}`);
    await sleep(200);
  }
}

const asks = (key) => (task) => task.inputRequests?.[key] !== undefined;
const approve = (token, key, comment) =>
  show('answer', token, key, '--field', 'approve=true', '--field', `comment=${comment}`);

async function showTables() {
  console.log(`$ curl ${CONTROL}/tables`);
  const tables = await (await fetch(`${CONTROL}/tables`)).json();
  for (const [table, rows] of Object.entries(tables))
    if (table !== 'requests') console.log(`${table}: ${rows.length}`);
  console.log();
}

async function setFault(system, fault) {
  console.log(`$ curl -X PUT ${CONTROL}/faults/${system} -d '${JSON.stringify(fault)}'\n`);
  await fetch(`${CONTROL}/faults/${system}`, { method: 'PUT', body: JSON.stringify(fault) });
}

rmSync('output', { recursive: true, force: true });
console.log('$ npm run service &');
const service = spawn(process.execPath, ['--import', 'jiti/register', 'service/main.ts'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(service.stdout, 'data');
console.log(`${line}`);

process.once('exit', () => {
  service.kill();
  spawnSync('node_modules/.bin/longhaul', ['down'], { stdio: 'ignore' });
});
process.once('SIGINT', () => process.exit(130));
try {
  console.log('# A vendor, while the CRM is down.');
  await setFault('crm', { down: 1000 });
  const token = await show('call', '--up', 'onboard_vendor', '--args', 'vendor.json', '--detach');
  await until(token, ({ statusMessage }) => /retried/.test(statusMessage));
  await show('status', token);
  console.log(`# The CRM is back.\n$ curl -X DELETE ${CONTROL}/faults/crm\n`);
  await fetch(`${CONTROL}/faults/crm`, { method: 'DELETE' });
  await until(token, asks('input-1'));
  await show('result', token, '--partial');
  await approve(token, 'input-1', 'standard terms');
  await until(token, asks('input-2'));
  await approve(token, 'input-2', 'in budget');
  await show('result', token, '--wait');
  await showTables();

  console.log('# A vendor whose IBAN the ERP refuses, in the last step.');
  const wrong = ['--iban', 'DE89 3704 0044 0532 0130 01'];
  const refused = await show('call', 'onboard_vendor', '--args', 'vendor.json', ...wrong, '--detach');
  await until(refused, asks('input-1'));
  await approve(refused, 'input-1', 'standard terms');
  await until(refused, asks('input-2'));
  await approve(refused, 'input-2', 'in budget');
  await show('result', refused, '--wait');
  await showTables();

  console.log('# A vendor for whom nobody answers: legal has 3.6 seconds, then the head of legal.');
  const short = ['--answer-hours', '0.001'];
  const unanswered = await show('call', 'onboard_vendor', '--args', 'vendor.json', ...short, '--detach');
  await show('result', unanswered, '--wait');
  await show('logs', unanswered);
} finally {
  await show('down');
}
