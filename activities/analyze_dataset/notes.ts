/** The first notes, and one that counts the others: "3 more ...". @param rest completes that note */
export function limitNotes(notes: readonly string[], limit: number, rest: string): string[] {
  if (notes.length <= limit) return [...notes];
  return [...notes.slice(0, limit), `${notes.length - limit} more ${rest}.`];
}
