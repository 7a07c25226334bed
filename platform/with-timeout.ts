/** The promise's value, or `late`'s if it takes longer than the limit. @param late default: undefined */
export async function withTimeout<T, Late = undefined>(
  awaited: Promise<T>,
  limitMs: number,
  late?: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  try {
    return await Promise.race([awaited, limit.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
