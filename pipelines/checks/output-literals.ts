/** Finds literal values that scripts write to $LONGHAUL_OUTPUT. */

export interface Script {
  /** From 0. */
  step: number;
  run: string;
  /** Whether the step runs only after a failure: a job that succeeds doesn't have its values. */
  isForFailure: boolean;
}

export interface Literal {
  step: number;
  statement: string;
  value: string;
}

const FILE = String.raw`(?:"\$LONGHAUL_OUTPUT"|"\$\{LONGHAUL_OUTPUT\}"|\$LONGHAUL_OUTPUT|\$\{LONGHAUL_OUTPUT\})`;

const WRITE = new RegExp(
  String.raw`^echo\s+(?:"([\w-]+)=([^"$\x60\\]*)"|'([\w-]+)=([^']*)'|([\w-]+)=([\w.,:/@%+-]*))\s*>>\s*${FILE}$`,
);
const MENTION = /(?<![\w-])([A-Za-z_][\w-]*)(?:=|<<)/g;

/** Values of unconditional `echo "key=text" >> "$LONGHAUL_OUTPUT"`, without expansions, for keys that no later line mentions. */
export function lastLiterals(scripts: readonly Script[]): Map<string, Literal> {
  const found = new Map<string, Literal>();
  for (const { step, run, isForFailure } of scripts) {
    let depth = 0;
    for (const statement of run.split(/\n|;/).map((one) => one.trim())) {
      if (/^(if|for|while|until|case|select)\b|[{(]$/.test(statement)) depth += 1;
      if (/^(fi|done|esac)\b|^[})]/.test(statement)) depth -= 1;
      for (const [, key] of statement.matchAll(MENTION)) found.delete(key!);
      const match = isForFailure || depth > 0 ? null : WRITE.exec(statement);
      if (!match) continue;
      const [key, value] = match.slice(1).filter((part) => part !== undefined) as [string, string];
      found.set(key, { step, statement, value });
    }
  }
  return found;
}
