/** The promise's value, or undefined if it takes longer than the limit. */
export async function withTimeout<T>(awaited: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const nothing = new Promise<undefined>(
    (resolve) => (timer = setTimeout(() => resolve(undefined), limitMs)),
  );
  try {
    return await Promise.race([awaited, nothing]);
  } finally {
    clearTimeout(timer);
  }
}
