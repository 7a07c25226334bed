/** The HTTP jobs API as a plain HTTP client sees it. */
import { eventually } from '../stack/cli-process.js';

export interface Answer {
  status: number;
  headers: Headers;
  body: any;
}

export class JobsClient {
  constructor(
    readonly base: string,
    /** API key or access token. */
    readonly credential?: string,
  ) {}

  /** Any request; a body that is JSON is read. */
  async request(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    if (this.credential !== undefined) headers.set('authorization', `Bearer ${this.credential}`);
    const response = await fetch(this.base + path, { method, ...init, headers });
    const text = await response.text();
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' && response.status !== 206 ? JSON.parse(text) : text,
    };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('GET', path, { headers });
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('POST', path, {
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  kickOff(tool: string, args: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.post(`/v1/tools/${tool}/jobs`, args, headers);
  }

  /** Starts a job, and doesn't wait for its end. */
  async start(tool: string, args: object = {}, headers: Record<string, string> = {}): Promise<string> {
    const { status, body } = await this.kickOff(tool, args, { prefer: 'respond-async', ...headers });
    if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body.job_id;
  }

  async job(id: string): Promise<any> {
    const { status, body } = await this.get(`/v1/jobs/${id}`);
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Polls until the job is as wanted, for as long as its answers are 200 or 503. */
  until(id: string, wanted: string | ((job: any) => boolean)): Promise<any> {
    const holds = typeof wanted === 'string' ? (job: any) => job.status === wanted : wanted;
    let last: any;
    return eventually(
      () => `the job is ${String(wanted)}; last seen: ${JSON.stringify(last)}`,
      async () => {
        const { status, body } = await this.get(`/v1/jobs/${id}`);
        last = body;
        // Unavailable for a moment, as on a busy machine.
        if (status === 503) return undefined;
        if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
        return holds(last) ? last : undefined;
      },
    );
  }
}
