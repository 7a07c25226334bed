/** Questions to the person, as input requests of a call that ends with them (specs: 2026-07-28 basic/patterns/mrtr). */
import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type InputRequests,
} from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/schema.js';
import type { Tool } from '../../operations/tool.js';
import { elicitResult } from '../shared/elicitation.js';

/** What a client's answers to questions of a call came to. */
export interface Taken {
  /** Keys whose questions needn't be asked again. */
  answered: ReadonlySet<string>;
  /** Why others have to be: key -> what was wrong with the answer. */
  problems: ReadonlyMap<string, string>;
}

/** Arguments that a tool asks the person for, when the call lacks them. */
export function missingArguments(tool: Tool, args: Record<string, unknown>): string[] {
  return Object.keys(tool.askFor).filter((argument) => args[argument] === undefined);
}

/**
 * Arguments that the person has given.
 *
 * @throws ProtocolError -32602 for a question that the person did not want to answer
 */
export function givenArguments(tool: Tool, responses: Record<string, unknown> = {}): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const argument of Object.keys(tool.askFor)) {
    const answer = elicitResult.safeParse(responses[argument]).data;
    if (answer?.action === 'accept') given[argument] = answer.content[argument];
    else if (answer) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `arguments.${argument}: missing, and the question for it was not answered`,
      );
    }
  }
  return given;
}

/** Questions for arguments, before anything starts. */
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

/** The open questions of an operation, but for those that were answered; a refused answer is said with its question. */
export function operationRequests(
  { inputRequests }: OperationRecord,
  { answered, problems }: Taken,
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

/** Hands the person's answers to the operation: declined and cancelled ones too, which are answers like others. */
export async function takeAnswers(
  engine: Engine,
  principal: string,
  token: string,
  keys: string[],
  responses: Record<string, unknown> = {},
): Promise<Taken> {
  const answered = new Set<string>();
  const problems = new Map<string, string>();
  for (const key of keys.filter((one) => one in responses)) {
    const answer = elicitResult.safeParse(responses[key]);
    if (!answer.success) {
      problems.set(key, 'the last answer could not be read: expected action accept, decline or cancel');
      continue;
    }
    try {
      await engine.answer(principal, token, key, answer.data);
      answered.add(key);
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      // Somebody else has answered it, or the work has ended: the wait shows which.
      if (error.kind === 'wrong_state') answered.add(key);
      else if (error.kind === 'not_found') throw error;
      else problems.set(key, error.message);
    }
  }
  return { answered, problems };
}
