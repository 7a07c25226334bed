/** Researches Longhaul's own documents as an agent does it: over stdio, with tools alone. Prints each call and its answer. */
import { spawnSync } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const LONGHAUL = 'node_modules/longhaul/dist/bin/longhaul.js';

const client = new Client({ name: 'research-demo', version: '0.1.0' });
// Starts Temporal, a worker and a server if none run; they outlive this client.
const args = [LONGHAUL, 'stdio', '--project', '.'];
const env = { ...process.env, NODE_OPTIONS: '' };
process.once('exit', () =>
  spawnSync(process.execPath, [LONGHAUL, 'down', '--project', '.'], { env, stdio: 'ignore' }),
);
process.once('SIGINT', () => process.exit(130));
try {
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));

  const topic = 'What happens to running work when a worker is killed?';
  const { token } = await call('research_topic', { topic, rounds: 2, researchers: 2, ask: true });
  const asking = await wait(token, (answer) => answer);

  heading('In the middle of it, the report so far');
  const { partial } = await call('operation_get', { token, view: 'partial' }, () => undefined);
  console.log(
    `${partial.rounds} round, ${partial.statements} statements:\n${firstLines(partial.report, 9)}\n...`,
  );

  heading('Continue with one of its questions');
  const { args: answer, question } = asking.next_action;
  const content = { questions: question.schema.properties.questions.items.enum.slice(0, 1) };
  await call('operation_answer', { ...answer, action: 'accept', content }, ({ answered }) => answered);
  await wait(token, ({ status }) => ({ status }));

  heading('The report');
  const { result } = await call('operation_get', { token, view: 'result' }, () => undefined);
  console.log(result.report.trimEnd());

  heading('Fetched, so it can be deleted');
  await call('operation_delete', { token });
  await call('operation_get', { token });
} finally {
  await client.close();
}

/** Waits until the operation asks or has ended. A wait is shorter than the client's time limit, and is repeated. */
async function wait(token, shown) {
  const args = { token, wait: true, timeout: 50 };
  for (;;) {
    const answer = await call('operation_get', args, (one) => (isOpen(one) ? undefined : shown(one)));
    if (!isOpen(answer)) return answer;
  }
}

function isOpen({ status }) {
  return status === 'queued' || status === 'running';
}

/** Calls a tool, and prints it with what `shown` takes of its answer. */
async function call(name, args, shown = (answer) => answer) {
  console.log(`> ${name} ${JSON.stringify(args)}`);
  const { structuredContent, content } = await client.callTool({ name, arguments: args });
  const answer = structuredContent ?? content[0].text;
  const visible = shown(answer);
  if (visible !== undefined)
    console.log(typeof visible === 'string' ? visible : JSON.stringify(visible, null, 2));
  return answer;
}

function heading(text) {
  console.log(`\n--- ${text}`);
}

function firstLines(text, count) {
  return text.split('\n').slice(0, count).join('\n');
}
