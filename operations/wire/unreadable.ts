/** Stands for a memo field that can't be decoded, for example one that another SDK's codec or storage has encoded. */
export interface UnreadableField {
  longhaul: 'unreadable';
  /** One line. */
  reason: string;
}

export function isUnreadable(value: unknown): value is UnreadableField {
  return (value as Partial<UnreadableField> | null | undefined)?.longhaul === 'unreadable';
}
