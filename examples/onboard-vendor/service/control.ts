/** The control port, for tests and the demo: faults of the systems, how long checks take, all tables. No system has it. */
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Fault, Faults } from './faults.js';
import type { Store } from './store.js';

export function controlApi(store: Store, faults: Faults): RequestListener {
  return async (request, response) => {
    const [, resource, system = ''] = request.url!.split('/');
    if (resource === 'faults' && request.method === 'PUT') faults.set(system, (await json(request)) as Fault);
    if (resource === 'faults' && request.method === 'DELETE') faults.remove(system);
    if (resource === 'tables' && request.method === 'DELETE') store.clear();
    if (resource === 'checks' && request.method === 'PUT') store.jobMs = (await json(request)) as number;
    const body = resource === 'tables' ? store.tables() : faults.describe(system);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}
