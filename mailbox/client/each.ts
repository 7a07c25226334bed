/** How many calls to Temporal one verb has under way at most. */
const AT_ONCE = 8;

/** Does something with each of a list, some at a time; fails with the first that fails. */
export async function eachOf<T>(list: T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = list.values();
  const lane = async () => {
    for (const one of rest) await work(one);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, list.length) }, lane));
}
