/** The systems' API over HTTP: `POST`, `GET` and `DELETE` of `/SYSTEM/COLLECTION[/ID]`. Every POST needs an Idempotency-Key. */
import type { IncomingMessage, RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { COLLECTIONS, type Body } from './collections.js';
import type { Faults } from './faults.js';
import { JOB_COLLECTION } from './jobs.js';
import type { Answer, Store } from './store.js';

const NOT_FOUND: Answer = { status: 404, body: { problem: 'there is no such record' } };

export function systemsApi(store: Store, faults: Faults): RequestListener {
  return async (request, response) => {
    const system = pathOf(request)[0]!;
    const isPost = request.method === 'POST';
    const send = ({ status, body }: Answer) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(status === 204 ? undefined : JSON.stringify(body));
    };
    try {
      const body = isPost ? ((await json(request)) as Body) : {};
      if (faults.take(system, 'down')) return send({ status: 503, body: { problem: `${system} is down` } });
      if (isPost && faults.take(system, 'holdBefore')) await faults.hold(system);
      const answer = answerTo(store, request, body);
      if (isPost && faults.take(system, 'holdAfter')) await faults.hold(system);
      if (isPost && faults.take(system, 'lose')) return void response.destroy();
      send(answer);
    } catch (error) {
      send({ status: 400, body: { problem: (error as Error).message } });
    }
  };
}

function answerTo(store: Store, request: IncomingMessage, body: Body): Answer {
  const [system, collection, ...rest] = pathOf(request);
  const path = `${system}/${collection}`;
  const id = rest.map(decodeURIComponent).join('/');
  if (!COLLECTIONS[path] && path !== JOB_COLLECTION) return NOT_FOUND;
  if (request.method === 'GET') return store.get(path, id) ?? NOT_FOUND;
  if (request.method === 'DELETE') return store.delete(path, id);
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string')
    return { status: 400, body: { problem: 'expected the header Idempotency-Key' } };
  return store.post(path, key, body);
}

function pathOf({ url }: IncomingMessage): string[] {
  return new URL(url!, 'http://systems').pathname.slice(1).split('/');
}
