/** Elicitation, as both eras have it: who can show forms, and what comes back (specs: client/elicitation). */
import { z } from 'zod';

/** One of MCP's three answers (specs: 2026-07-28 client/elicitation, "Response Actions"). */
export const elicitResult = z.discriminatedUnion('action', [
  z.object({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()).default({}) }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);

/** A question in a line, for clients that don't show it: how it is answered all the same. */
export function questionText(token: string, key: string | undefined, message: string): string {
  return `waits for an answer: ${message} (answer with operation_answer ${JSON.stringify({ token, key })})`;
}

const declaredElicitation = z.object({ form: z.unknown().optional(), url: z.unknown().optional() });

/**
 * Can a client that declares this capability show forms? `elicitation: {}` means forms; a client that names modes has
 * forms only if it names them.
 */
export function showsForms(elicitation: unknown): boolean {
  const { data } = declaredElicitation.safeParse(elicitation);
  return data !== undefined && (data.form !== undefined || data.url === undefined);
}
