/** Tools whose every call waits for its result, as any face describes them: there is nothing to follow. */
import { describeOn, shownInput, shownResult } from '../operations/documentation/describe.js';
import type { Tool } from '../operations/tool.js';

/** The whole description of a tool that never becomes an operation of its own for the client. */
export function shortDescription(tool: Tool): string {
  const { name, timeoutSeconds, example } = tool;
  return describeOn(tool, {
    states: 'No states: the call gives the result, or isError.',
    following: `Nothing to poll: it waits, for ${timeoutSeconds} s at most.`,
    cancel: 'The end of the call cancels nothing.',
    idempotency: 'No key: a repeated call works again.',
    rates: 'No rate limits.',
    example: `Example: ${name} ${shownInput(example)} -> ${shownResult(example)}`,
  });
}
