import { CancellationScope, condition } from '@temporalio/workflow';

const fields: unknown[] = [];

function recurse(): number {
  return recurse() + 1;
}

async function forever(): Promise<void> {
  await condition(() => false);
}

/** The host's promises: none belongs to a run. */
function hostReject(): void {
  const host = (URL as unknown as { constructor: (code: string) => () => PromiseConstructor }).constructor(
    'return Promise',
  )();
  void host.reject(new Error('of the host'));
}

const MISTAKES: Record<string, () => unknown> = {
  'await loop': async () => {
    for (;;) await Promise.resolve();
  },
  loop: () => {
    for (;;);
  },
  flood: async () => {
    const again = (): unknown => Promise.resolve().then(again);
    again();
    await forever();
  },
  leak: () => {
    for (;;) fields.push({ field: `${fields.length}` });
  },
  recursion: recurse,
  'host rejection': async () => {
    hostReject();
    await forever();
  },
  'deaf to a cancel': () => CancellationScope.nonCancellable(forever),
};

export async function bad_code({ mistake }: { mistake: string }) {
  // The SDK's time limit crashes Node.js only in a scope.
  await CancellationScope.nonCancellable(async () => MISTAKES[mistake]!());
  return {};
}
