/** Prompts at the terminal, on standard error. Escapes texts, because the library draws with its own control sequences. */
import { oneLine } from '../terminal/table.js';
import { escapeControls } from '../terminal/terminal-text.js';

/** Result of a prompt after Ctrl-C or an abort. */
export const CANCELLED: unique symbol = Symbol('cancelled');
type Cancelled = typeof CANCELLED;

interface Prompt {
  message: string;
  signal?: AbortSignal;
}

interface Option<Value> {
  value: Value;
  label: string;
  hint?: string;
}

export async function confirm(prompt: Prompt & { initialValue: boolean }): Promise<boolean | Cancelled> {
  const clack = await import('@clack/prompts');
  const answer = await clack.confirm(shown(prompt));
  return clack.isCancel(answer) ? CANCELLED : answer;
}

export async function select<Value extends string | number>({
  options,
  initialValue,
  ...prompt
}: Prompt & { options: Option<Value>[]; initialValue?: Value }): Promise<Value | Cancelled> {
  const clack = await import('@clack/prompts');
  // By position: the library's types are stricter for values.
  const index = await clack.select({
    ...shown(prompt),
    options: options.map((option, value) => ({ ...shownOption(option), value })),
    initialValue: options.findIndex(({ value }) => value === initialValue),
  });
  return clack.isCancel(index) ? CANCELLED : options[index]!.value;
}

export async function multiselect({
  options,
  ...prompt
}: Prompt & { options: Option<number>[]; required: boolean; initialValues: number[] }): Promise<
  number[] | Cancelled
> {
  const clack = await import('@clack/prompts');
  const chosen = await clack.multiselect({ ...shown(prompt), options: options.map(shownOption) });
  return clack.isCancel(chosen) ? CANCELLED : chosen;
}

/** @param initialValue ignored if it has control characters, which the prompt would take for keys */
export async function text({
  initialValue,
  validate,
  ...prompt
}: Prompt & { initialValue?: string; validate: (text: string) => string | undefined }): Promise<
  string | Cancelled
> {
  const clack = await import('@clack/prompts');
  const isTypable = initialValue !== undefined && oneLine(initialValue) === initialValue.trim();
  const typed = await clack.text({
    ...shown(prompt),
    ...(isTypable ? { initialValue } : {}),
    validate: (value) => {
      const problem = validate(value ?? '');
      return problem === undefined ? undefined : escapeControls(problem);
    },
  });
  return clack.isCancel(typed) ? CANCELLED : (typed ?? '');
}

function shown<Given extends Prompt>(prompt: Given): Given & { output: typeof process.stderr } {
  return { ...prompt, message: escapeControls(prompt.message), output: process.stderr };
}

function shownOption<Value>({ value, label, hint }: Option<Value>): Option<Value> {
  return { value, label: oneLine(label), ...(hint === undefined ? {} : { hint: oneLine(hint) }) };
}
