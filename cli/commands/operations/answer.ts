import type { Command } from 'commander';
import { addClientFlags, collect, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import type { Session } from '../../client/session.js';
import type { InputRequest, InputResponse } from '../../client/wire.js';
import { print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { answerInstructions, responseFrom, sendAnswers, type AnswerFlags } from '../../questions/answers.js';
import { askAll } from '../../questions/questions.js';
import { isInteractive } from '../../terminal/views.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .argument('[key]', 'which question; optional if only one is open')
    .option('--content <json>', 'the answer as a JSON object')
    .option('--field <name=value>', 'a field of the answer; repeat it for others', collect)
    .option('--decline', 'decline to answer; the tool is notified')
    .option('--cancel', 'dismiss the question; the tool may ask again');
  runAgainstServer(command, async (session, token: string, key: string | undefined) => {
    const open = await openQuestions(session, token, key);
    const responses = await respond(session, command, token, open);
    const { lines, isRefused } = await sendAnswers(session, token, responses);
    if (isJson(command)) printJson(await session.task(token));
    else print(lines.join('\n'));
    if (isRefused) return EXIT.failed;
  });
}

/** The open questions that the operands select, by key. */
async function openQuestions(
  session: Session,
  token: string,
  key: string | undefined,
): Promise<Record<string, InputRequest>> {
  const { inputRequests = {}, status } = await session.task(token);
  const keys = Object.keys(inputRequests);
  if (keys.length === 0) throw new CommandFailure(`${token}: no question is open; it is ${status}`);
  if (key === undefined) return inputRequests;
  const question = inputRequests[key];
  if (!question)
    throw usageFailure(`${token}: expected a key among ${keys.join(', ')}; got ${JSON.stringify(key)}`);
  return { [key]: question };
}

async function respond(
  session: Session,
  command: Command,
  token: string,
  open: Record<string, InputRequest>,
): Promise<Record<string, InputResponse>> {
  const entries = Object.entries(open);
  const [[firstKey, first]] = entries as [[string, InputRequest]];
  const response = responseFrom(command.opts<AnswerFlags>(), first);
  if (response) {
    if (entries.length === 1) return { [firstKey]: response };
    throw usageFailure(
      `${token}: expected a key, since several questions are open: ${Object.keys(open).join(', ')}`,
    );
  }
  if (!isInteractive() || isJson(command)) {
    const lines = entries.flatMap(([key, question]) => answerInstructions(session, token, key, question));
    throw usageFailure(`${token}: expected an answer; got none\n${lines.join('\n')}`);
  }
  const responses = await askAll(open);
  if (!responses) throw new CommandFailure(`${token}: nothing was answered`, EXIT.detached);
  return responses;
}
