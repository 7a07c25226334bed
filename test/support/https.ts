/** Requests over HTTPS, each on a connection of its own unless it is given an agent. */
import { request, type RequestOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';

export interface HttpsAnswer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: any;
  /** The server's certificate. */
  fingerprint: string;
}

export function askOverHttps(url: string, options: RequestOptions = {}, body?: object): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { ...(body ? { 'content-type': 'application/json' } : {}), ...options.headers };
    const asked = request(url, { agent: false, method: body ? 'POST' : 'GET', ...options, headers });
    asked.once('error', reject).once('response', (response) => {
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString())).once('error', reject);
      response.once('end', () => {
        const isJson = /[/+]json/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: isJson && text ? JSON.parse(text) : text,
          fingerprint: fingerprint256,
        });
      });
    });
    asked.end(body && JSON.stringify(body));
  });
}
