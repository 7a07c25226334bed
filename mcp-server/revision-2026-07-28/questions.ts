/** Questions to the user, as input requests in a call's result (specs: 2026-07-28 basic/patterns/mrtr). */
import { inputRequired, type InputRequests } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import { elicitResult } from '../call/elicitation.js';
import { invalidParams } from '../call/protocol-error.js';

export interface TakenAnswers {
  answered: ReadonlySet<string>;
  /** Questions to ask again: key -> error in the answer. */
  problems: ReadonlyMap<string, string>;
}

export function missingArguments(tool: Tool, args: Record<string, unknown>): string[] {
  return Object.keys(tool.askFor).filter((argument) => args[argument] === undefined);
}

/** Arguments that the user has given. @throws ProtocolError -32602 if the user declined or cancelled a question */
export function givenArguments(tool: Tool, responses: Record<string, unknown> = {}): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const argument of Object.keys(tool.askFor)) {
    const answer = elicitResult.safeParse(responses[argument]).data;
    if (answer?.action === 'accept') given[argument] = answer.content[argument];
    else if (answer) {
      throw invalidParams(`arguments.${argument}: missing, and the question for it was not answered`);
    }
  }
  return given;
}

/** Questions for missing arguments, asked before anything starts. */
export function argumentRequests({ askFor, inputSchema }: Tool, missing: string[]): InputRequests {
  const properties = inputSchema['properties'] as Record<string, JsonSchema>;
  return Object.fromEntries(
    missing.map((argument) => [
      argument,
      form(askFor[argument]!, {
        type: 'object',
        properties: { [argument]: properties[argument] },
        required: [argument],
      }),
    ]),
  );
}

/** The operation's unanswered questions, with the error of a refused answer. */
export function operationRequests(
  { inputRequests }: OperationRecord,
  { answered, problems }: TakenAnswers,
): InputRequests {
  return Object.fromEntries(
    Object.entries(inputRequests)
      .filter(([key]) => !answered.has(key))
      .map(([key, { message, schema }]) => {
        const problem = problems.get(key);
        return [key, form(problem === undefined ? message : `${message}\n(${problem})`, schema)];
      }),
  );
}

function form(message: string, requestedSchema: JsonSchema) {
  return inputRequired.elicit({ message, requestedSchema: requestedSchema as never });
}

/** Hands the user's answers to the operation, including decline and cancel. */
export async function takeAnswers(
  engine: Guard,
  token: string,
  keys: string[],
  responses: Record<string, unknown> = {},
): Promise<TakenAnswers> {
  const answered = new Set<string>();
  const problems = new Map<string, string>();
  for (const key of keys.filter((one) => one in responses)) {
    const answer = elicitResult.safeParse(responses[key]);
    if (!answer.success) {
      problems.set(key, 'the last answer could not be read: expected action accept, decline or cancel');
      continue;
    }
    try {
      await engine.answer(token, key, answer.data);
      answered.add(key);
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      // Answered elsewhere, or the work has ended. The wait finds out which.
      if (error.kind === 'wrong_state') answered.add(key);
      else if (error.kind === 'not_found') throw error;
      else problems.set(key, error.message);
    }
  }
  return { answered, problems };
}
