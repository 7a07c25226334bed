/** Elicitation in all revisions: support for forms, questions and results (specs: client/elicitation). */
import { z } from 'zod';
import { snakeKeys } from '../../operations/json/snake-keys.js';
import type { OperationRecord } from '../../operations/record.js';

/** One of three actions (specs: 2026-07-28 client/elicitation, "Response Actions"). */
export const elicitResult = z.discriminatedUnion('action', [
  z.object({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()).default({}) }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);

/** For clients that don't show the question: one line with the question, and how to answer it with operation_answer. */
export function questionText(token: string, key: string | undefined, message: string): string {
  return `waits for an answer: ${message} (answer with operation_answer ${JSON.stringify({ token, key })})`;
}

/** Open questions by key, in messages for programs. */
export function questionsOf(inputRequests: OperationRecord['inputRequests']) {
  return Object.fromEntries(
    Object.entries(inputRequests).map(([key, { message, schema, expiresAt, approvers, fourEyes }]) => [
      key,
      snakeKeys({ message, schema, expiresAt, approvers, fourEyes }),
    ]),
  );
}

const declaredElicitation = z.object({ form: z.unknown().optional(), url: z.unknown().optional() });

/** Whether a client with this capability can show forms. `elicitation: {}` means forms. A client that names modes must name forms. */
export function showsForms(elicitation: unknown): boolean {
  const { data } = declaredElicitation.safeParse(elicitation);
  return data !== undefined && (data.form !== undefined || data.url === undefined);
}
