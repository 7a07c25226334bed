/** An error that the user can fix, reported without a stack trace. */
export class StackError extends Error {
  override name = 'StackError';
}

/** Prints a notice: one line for people. */
export type Say = (line: string) => void;

/** Message of any thrown value. Errors of Node's core aren't `instanceof Error` in every realm. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}
