/**
 * The promise's value, or if it takes longer than the limit that of `late`. Default: undefined
 */
export async function withTimeout<T, Late = undefined>(
  awaited: Promise<T>,
  limitMs: number,
  late?: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  try {
    return await Promise.race([awaited, limit.then(late) as Promise<Late>]);
  } finally {
    clearTimeout(timer);
  }
}
