/** A number with its noun: `1 file`, `2 files`. @param plural default: the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** The first names of a list, and how many more there are: `a, b and 3 more`. @param count of all. Default: the list's length */
export function listed(names: readonly string[], most: number, count = names.length): string {
  const shown = names.slice(0, most);
  const more = count - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The beginning of a long text, and its length: `It was ... (2000 characters)`. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)} ... (${text.length} characters)` : text;
}
