/** Size of a value as JSON, in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value) ?? '');
}

/** Also works in Temporal's sandbox, which has no Buffer. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.codePointAt(index)!;
    if (code > 0xffff) {
      // A surrogate pair: four bytes.
      bytes += 2;
      index += 1;
    } else if (code > 0x7f) bytes += code > 0x7ff ? 2 : 1;
  }
  return bytes;
}
