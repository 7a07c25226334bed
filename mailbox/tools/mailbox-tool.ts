/**
 * Definition of a mailbox tool. Results are one line of JSON text without structured content: models pay for every token in loops
 * that run for days, and some clients would show both.
 */
import { z } from 'zod';
import type { Guard } from '../../mcp-server/guard.js';
import { LonghaulError, type ErrorKind } from '../../operations/errors.js';
import type { MailboxToolName } from '../tool-names.js';
import { check, toJsonSchema, withDefaults } from '../../operations/tool/schema.js';
import type { CallContext } from '../../mcp-server/call/call-context.js';
import type { BuiltinTool } from '../../mcp-server/plain/builtin-tool.js';
import type { Mailbox } from '../client/index.js';
import { INVALID_ARGUMENTS_ADVICE, renderRefusal } from '../../mcp-server/call/results.js';

export interface MailboxCaller {
  mailbox: Mailbox;
  principal: string;
  guard: Guard;
}

export type MailboxTool = (mailbox: Mailbox) => BuiltinTool;

interface Definition<Input extends z.ZodObject> {
  name: MailboxToolName;
  title: string;
  /** Short, because every agent has it in its context. */
  description: string;
  annotations: BuiltinTool['annotations'];
  input: Input;
  /** @returns the result, as JSON */
  run: (engine: MailboxCaller, callContext: CallContext, input: z.output<Input>) => Promise<object>;
}

/** Advice for errors whose message has none. */
const ADVICE: Partial<Record<ErrorKind, string>> = {
  invalid_arguments: INVALID_ARGUMENTS_ADVICE,
  unavailable: 'No message is lost. Make the same call again shortly.',
};

export function defineMailboxTool<Input extends z.ZodObject>({
  input,
  run,
  ...listed
}: Definition<Input>): MailboxTool {
  const inputSchema = toJsonSchema(input);
  return (mailbox) => ({
    ...listed,
    inputSchema,
    async call(guard, callContext, args) {
      try {
        const filled = withDefaults(inputSchema, args ?? {});
        const problems = check(inputSchema, filled, 'arguments');
        if (problems.length) throw new LonghaulError('invalid_arguments', problems.join('\n'));
        const caller = { mailbox, principal: guard.principal, guard };
        const answer = await run(caller, callContext, filled as z.output<Input>);
        return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
      } catch (error) {
        if (error instanceof LonghaulError) return renderRefusal(error, ADVICE);
        throw error;
      }
    },
  });
}

// Input fields that several tools share. The mailbox's client checks names, sizes and IDs, which keeps the schemas short.

const LONGEST_WAIT_SECONDS = 3600;
const OPERATIONS_LIMIT = 20;

export const agentId = z.string().max(200);
export const messageId = z.string().max(200);

export const timeoutSeconds = z
  .number()
  .gt(0)
  .max(LONGEST_WAIT_SECONDS)
  .optional()
  .describe('Default: by client, up to 60');

/** Described only in register_and_wait, which the other waits refer to. */
export const also = z.array(z.string().min(1).max(1000)).max(OPERATIONS_LIMIT).optional();
export const leaseSeconds = z.number().optional();

/** `invalid_arguments`: the call needs an argument that its schema leaves optional. */
export function missingArgument(argument: string, expected: string): LonghaulError {
  return new LonghaulError('invalid_arguments', `${argument}: expected ${expected}; got nothing`);
}
