/** Names in pipelines, and the environment variables for them. */

/** Name of a tool; the prefix `operation_` is reserved for built-in tools. */
export const TOOL_NAME = /^(?!operation_)[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** Name of an input, an output, a job, or an approval's field. */
export const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;

export const RESERVED_PREFIXES = ['LONGHAUL_', 'INPUT_', 'APPROVAL_'] as const;

/** An input's variable: `INPUT_DRY_RUN` for `dry-run`. */
export function inputVariable(name: string): string {
  return `INPUT_${variablePart(name)}`;
}

/** An approval field's variable: `APPROVAL_REASON` for `reason`. */
export function approvalVariable(name: string): string {
  return `APPROVAL_${variablePart(name)}`;
}

export function isBuiltIn(name: string): boolean {
  return name in Object.prototype;
}

function variablePart(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
