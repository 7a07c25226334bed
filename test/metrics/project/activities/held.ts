import { once } from 'node:events';
import { cancellationSignal, report } from 'longhaul/activity';

export async function hold() {
  report({ progress: 1, total: 2 });
  const signal = cancellationSignal();
  if (!signal.aborted) await once(signal, 'abort');
  signal.throwIfAborted();
}
