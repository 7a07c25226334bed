/** A number with its noun: `1 file`, `2 files`. @param plural default: the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
