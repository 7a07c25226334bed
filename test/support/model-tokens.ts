/** Tokens that a model pays for Longhaul's tools, measured over HTTP with the tokenizer o200k. */
import { encode } from 'gpt-tokenizer';
import { checkAfterSeconds } from '../../mcp-server/plain/envelope/next-action.js';
import { eventually } from '../stack/cli-process.js';
import { TASKS, type WireClient } from './mcp.js';

/** The shipped tools: the project of a stack may have others. */
export const SHIPPED = ['analyze_dataset', 'audit_npm_package', 'sign_packages', 'test_npm_package'];

/** Number of starts: tokens of operations are random, and so is their length in the tokenizer. */
const STARTS = 5;
/** Work of an hour, by its author's estimate. */
const HOUR_SECONDS = 3600;

export interface ModelTokens {
  /** tools/list with the shipped tools and the operation_* tools. */
  listPlain: number;
  listTasks: number;
  instructions: number;
  /** Longest description of a shipped tool. */
  description: number;
  /** Answer to a start, the median: text and structured content. */
  start: number;
  /** Answer to a look at work that has reported nothing, and at work that reports its progress. */
  poll: number;
  pollWithProgress: number;
  /** Looks at work of an hour by `check_after_seconds`. */
  polls: number;
  /** Work of an hour, from the start to the result, with the model's calls. */
  hourPlain: number;
  hourTasks: number;
}

/**
 * @param client of a server with the shipped tools and the tool `slow_compute` of the tests' fixtures
 */
export async function measureModelTokens(client: WireClient): Promise<ModelTokens> {
  const [plain, tasks] = [client.with({}), client.with(TASKS)];
  const { instructions } = (await plain.request('server/discover')).result;
  const listed = await toolsOf(plain);

  const args = { seconds: HOUR_SECONDS, wait: false };
  const starts = await Promise.all(
    Array.from({ length: STARTS }, () => callTool(plain, 'slow_compute', args)),
  );
  const start = starts.toSorted((one, other) => one.answer - other.answer)[Math.floor(STARTS / 2)]!;
  const { token } = start.result.structuredContent;
  try {
    const progress = await eventually('it reports progress', async () => {
      const look = await callTool(plain, 'operation_get', { token });
      return / of \d/.test(look.result.structuredContent.status_message) ? look : undefined;
    });
    const poll = await silentPoll(plain);
    const end = await endOf(plain);
    const polls = looksAt(HOUR_SECONDS);
    return {
      listPlain: tokensOf(listed),
      listTasks: tokensOf(await toolsOf(tasks)),
      instructions: encode(instructions).length,
      description: Math.max(
        ...listed
          .filter(({ name }) => SHIPPED.includes(name))
          .map(({ description }) => encode(description).length),
      ),
      start: start.answer,
      poll,
      pollWithProgress: progress.answer,
      polls,
      hourPlain:
        start.call + start.answer + (polls - 1) * (progress.call + progress.answer) + end.call + end.answer,
      hourTasks: await hourWithTasks(tasks),
    };
  } finally {
    await Promise.all(
      starts.map(({ result }) =>
        callTool(plain, 'operation_cancel', { token: result.structuredContent.token }),
      ),
    );
  }
}

async function toolsOf(client: WireClient): Promise<any[]> {
  const { tools } = (await client.request('tools/list')).result;
  return tools.filter(({ name }: any) => SHIPPED.includes(name) || name.startsWith('operation_'));
}

/** A look at work that runs and reports nothing. */
async function silentPoll(client: WireClient): Promise<number> {
  const start = await callTool(client, 'large_values', { thenWaitSeconds: HOUR_SECONDS, wait: false });
  const { token } = start.result.structuredContent;
  try {
    return await eventually('it runs and says nothing', async () => {
      const { result, answer } = await callTool(client, 'operation_get', { token });
      const { status, status_message: message } = result.structuredContent;
      return status === 'running' && message === undefined ? answer : undefined;
    });
  } finally {
    await callTool(client, 'operation_cancel', { token });
  }
}

/** The last look at work that has ended. */
async function endOf(client: WireClient): Promise<{ call: number; answer: number }> {
  const { result } = await callTool(client, 'slow_compute', { seconds: 0, wait: true });
  return callTool(client, 'operation_get', { token: result.structuredContent.token });
}

/** The call, its answer and the result, as a client with tasks shows them to its model. */
async function hourWithTasks(client: WireClient): Promise<number> {
  const { result } = await client.call('slow_compute', { seconds: 0 });
  const { result: end } = await client.until(result.taskId, 'completed');
  const call = { name: 'slow_compute', arguments: { seconds: HOUR_SECONDS } };
  return tokensOf(call) + tokensOf(result) + answerTokens(end);
}

/** Number of looks at work of this duration, each when the one before has said. */
function looksAt(durationSeconds: number): number {
  const timeAfter = (seconds: number) => new Date(seconds * 1000).toISOString();
  const record = { createdAt: timeAfter(0), estimateSeconds: durationSeconds };
  let looks = 0;
  for (let seconds = 0; seconds < durationSeconds; looks += 1)
    seconds += checkAfterSeconds({ ...record, updatedAt: timeAfter(seconds) });
  return looks;
}

async function callTool(client: WireClient, name: string, args: object) {
  const call = { name, arguments: args };
  const { result } = await client.request('tools/call', call);
  return { result, call: tokensOf(call), answer: answerTokens(result) };
}

/** Text and structured content of a result. */
function answerTokens({ content, structuredContent }: any): number {
  const texts = content.map(({ text = '' }: { text?: string }) => encode(text).length);
  const structured = structuredContent === undefined ? 0 : tokensOf(structuredContent);
  return texts.reduce((sum: number, one: number) => sum + one, structured);
}

function tokensOf(value: unknown): number {
  return encode(JSON.stringify(value)).length;
}
