/** Calls a tool: reads arguments, answers questions before the start, returns a task or a result. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { isObject } from '../../operations/json/is-object.js';
import { CommandFailure } from '../failure.js';
import { EXIT } from '../client/exit-codes.js';
import { usageFailure } from '../client/failures.js';
import { parseExactJson, propertiesOf } from './schema-values.js';
import type { Session } from '../client/session.js';
import { askAll } from '../questions/questions.js';
import { oneLine } from '../terminal/table.js';
import { isInteractive } from '../terminal/views.js';
import type { CallAnswer, InputRequest, InputResponse } from '../client/wire.js';

/** Maximum rounds of questions before a start, in case a server asks endlessly. */
const MAX_ROUNDS = 20;

/** Reads the arguments of --args. @param source file name, or `-` for standard input */
export function readArguments(source: string): Record<string, unknown> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(source === '-' ? 0 : source);
  } catch (error) {
    throw usageFailure(`--args: ${source} can't be read: ${(error as Error).message}`);
  }
  if (!isUtf8(bytes)) throw usageFailure(`--args: expected text in UTF-8 in ${source}; got other bytes`);
  const text = bytes.toString();
  const args = parseExactJson(text, '--args');
  if (!isObject(args))
    throw usageFailure(
      `--args: expected a JSON object in ${source}; got ${JSON.stringify(oneLine(text).slice(0, 80))}`,
    );
  return args;
}

/**
 * Calls a tool. Asks the server's questions before the start in the terminal, then repeats the call with the answers.
 *
 * @throws CommandFailure for a question without a terminal
 */
export async function callTool(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  asks: boolean,
  signal: AbortSignal,
): Promise<Exclude<CallAnswer, { resultType: 'input_required' }>> {
  let answers: { inputResponses?: Record<string, InputResponse>; requestState?: string } = {};
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const answer = await session.request<CallAnswer>(
      'tools/call',
      { name, arguments: args, ...answers },
      { signal, limitMs: Infinity },
    );
    if (answer.resultType !== 'input_required') return answer;
    const { inputRequests = {}, requestState } = answer;
    if (Object.keys(inputRequests).length > 0 && !(asks && isInteractive()))
      throw unasked(name, inputRequests);
    const inputResponses = await askAll(inputRequests, signal);
    if (!inputResponses) throw new CommandFailure(`${name}: nothing was started`, EXIT.detached);
    answers = { inputResponses, requestState };
  }
  throw new CommandFailure(`${name}: still asking after ${MAX_ROUNDS} rounds; nothing was started`);
}

function unasked(name: string, inputRequests: Record<string, InputRequest>): CommandFailure {
  const questions = Object.values(inputRequests).map(({ method, params }) => {
    const fields = propertiesOf(params?.requestedSchema ?? {}).map(([field]) => field);
    return `"${oneLine(params?.message ?? method)}" (${fields.join(', ')})`;
  });
  return usageFailure(
    `${name} asks before it starts: ${questions.join(', ')}; give the arguments as flags (longhaul call ${name} --help), or call it in a terminal`,
  );
}
