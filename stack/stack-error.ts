/** Something that a user can put right: shown as its message alone, without a stack trace. */
export class StackError extends Error {
  override name = 'StackError';
}

/** What is told while something takes time: one line for people. */
export type Say = (line: string) => void;

/** The message of whatever was thrown. Errors of Node's core aren't `instanceof Error` in every realm. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}
