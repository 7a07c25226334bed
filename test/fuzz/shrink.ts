/** Finds the smallest request that still fails: fewer mutations first, then fewer headers and fields. */
import { placesIn } from './json-tree.js';
import { copyRequest, type FuzzRequest } from './request.js';

/** Tries of one shrink: each sends a request. */
const MOST_TRIES = 80;
/** Time of one shrink, in milliseconds: requests that aren't answered take long. */
const LONGEST_MS = 60_000;

/** @param fails sends a request, and decides whether it fails in the same way */
export async function shrink(
  mutationSeeds: readonly number[],
  build: (mutationSeeds: readonly number[]) => FuzzRequest,
  fails: (request: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest> {
  let triesLeft = MOST_TRIES;
  const deadline = performance.now() + LONGEST_MS;
  const stillFails = async (request: FuzzRequest) =>
    (triesLeft -= 1) >= 0 && performance.now() < deadline && (await fails(request));
  let seeds = [...mutationSeeds];
  for (let index = seeds.length - 1; index >= 0; index -= 1) {
    const fewer = seeds.toSpliced(index, 1);
    if (await stillFails(build(fewer))) seeds = fewer;
  }
  let smallest = build(seeds);
  if (smallest.bytes) return smallest;
  for (let index = smallest.headers.length - 1; index >= 0; index -= 1) {
    if (/^(host|connection)$/i.test(smallest.headers[index]![0])) continue;
    const smaller = copyRequest(smallest);
    smaller.headers.splice(index, 1);
    if (await stillFails(smaller)) smallest = smaller;
  }
  for (let index = fieldsIn(smallest) - 1; index > 0; index -= 1) {
    const smaller = copyRequest(smallest);
    if (Buffer.isBuffer(smaller.body) || smaller.body === undefined) break;
    placesIn(smaller.body, () => undefined)[index]?.remove?.();
    if (await stillFails(smaller)) {
      smallest = smaller;
      index = Math.min(index, fieldsIn(smallest));
    }
  }
  return smallest;
}

function fieldsIn({ body }: FuzzRequest): number {
  return body === undefined || Buffer.isBuffer(body) ? 0 : placesIn(body, () => undefined).length;
}
