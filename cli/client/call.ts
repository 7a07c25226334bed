/** Starting a tool: arguments, questions that come before the start, and what the server makes of the call. */
import { readFileSync } from 'node:fs';
import { CommandFailure } from '../failure.js';
import { EXIT } from './exit-codes.js';
import { usageFailure } from './failures.js';
import { isObject, parseJson, propertiesOf } from './schema-values.js';
import type { Session } from './session.js';
import { oneLine } from './table.js';
import { isInteractive } from './views.js';
import type { CallAnswer, InputRequest, InputResponse } from './wire.js';

/** How often one call may be asked before it starts; more is a server that goes round in circles. */
const MAX_ROUNDS = 20;

/**
 * The arguments of --args.
 *
 * @param source a file's name, or `-` for standard input
 */
export function readArguments(source: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(source === '-' ? 0 : source, 'utf8');
  } catch (error) {
    throw usageFailure(`--args: ${source} can't be read: ${(error as Error).message}`);
  }
  const args = parseJson(text);
  if (!isObject(args))
    throw usageFailure(
      `--args: expected a JSON object in ${source}; got ${JSON.stringify(oneLine(text).slice(0, 80))}`,
    );
  return args;
}

/**
 * Calls a tool. What the server asks first is asked in the terminal, and the call made again with the answers.
 *
 * @param signal fires when nobody waits any more
 * @throws CommandFailure when a question comes and nobody can be asked
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
    answers = {
      inputResponses: await askFirst(name, inputRequests, signal),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }
  throw new CommandFailure(`${name}: still asking after ${MAX_ROUNDS} rounds; nothing was started`);
}

async function askFirst(
  name: string,
  inputRequests: Record<string, InputRequest>,
  signal: AbortSignal,
): Promise<Record<string, InputResponse>> {
  const responses: Record<string, InputResponse> = {};
  const { ask } = await import('./questions.js');
  for (const [key, question] of Object.entries(inputRequests)) {
    const response = await ask(question, signal);
    if (typeof response === 'string') throw new CommandFailure(`${name}: nothing was started`, EXIT.detached);
    responses[key] = response;
  }
  return responses;
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
