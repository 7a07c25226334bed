/** Work by the folder that it uses, while it runs. */
const running = new Map<string, Promise<unknown>>();

/**
 * Waits until nothing else of this process uses the folder, then works. Temporal starts the next attempt of an activity whose heartbeats
 * are late, while the earlier one may still be ending.
 */
export async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = running.get(folder) ?? Promise.resolve();
  const result = before.then(work, work);
  running.set(folder, result);
  try {
    return await result;
  } finally {
    if (running.get(folder) === result) running.delete(folder);
  }
}
