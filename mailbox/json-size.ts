/** Size of a value as JSON, in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value) ?? '');
}

/** Also works in Temporal's sandbox, which has no Buffer. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
