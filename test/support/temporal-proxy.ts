/**
 * A gRPC proxy in front of Temporal that answers some calls itself: what an authorizer, a limit of a rate or a lagging part of a
 * cluster would answer. Optionally with TLS and client certificates.
 */
import { connect, createSecureServer, createServer, constants, type Http2Server } from 'node:http2';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  SecureClientSessionOptions,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { temporalConnectConfig } from '../../platform/temporal/connect-config.js';

/** Answer of the proxy instead of Temporal's. */
export interface GrpcStatus {
  /** gRPC status code. */
  code: number;
  message: string;
  /** Pause before the next attempt that the answer asks for, in seconds, below 128. Default: no such request */
  retryAfterSeconds?: number;
  /** Whether Temporal gets the call all the same, so that only its answer is lost. Default: false */
  isPassedOn?: boolean;
}

export interface ProxyCall {
  /** e.g. `temporal.api.workflowservice.v1.WorkflowService` */
  service: string;
  /** e.g. `StartWorkflowExecution` */
  method: string;
  headers: IncomingHttpHeaders;
}

export interface ProxyOptions {
  /** `host:port` of a Temporal without TLS. Default: the Temporal of the test run, with its certificates */
  target?: string;
  /** Certificates in PEM, for TLS, with client certificates that `ca` has signed unless `requestCert` is false. */
  tls?: { ca: string; cert: string; key: string; requestCert?: boolean };
}

/** Decides about each call; undefined passes it on. */
export type Decide = (call: ProxyCall) => GrpcStatus | undefined;

/** Changes Temporal's response, as the bytes of its message; undefined leaves the response as it is. */
export type Rewrite = (call: ProxyCall) => ((message: Buffer) => Uint8Array) | undefined;

export class TemporalProxy {
  /** Calls by method, with those that were not passed on. */
  readonly calls = new Map<string, number>();
  /** Each call with its request, as the bytes that the client sent, and whether it has no answer yet, from {@link record} on. */
  recorded: { method: string; request: string; isOpen: boolean }[] | undefined;
  decide: Decide;
  rewrite: Rewrite = () => undefined;
  /** Number of calls that were not passed on. */
  refusedCalls = 0;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #refused = new Set<string>();
  #upstream: ClientHttp2Session | undefined;

  private constructor(
    private readonly server: Http2Server,
    private readonly connectUpstream: () => ClientHttp2Session,
    decide: Decide,
  ) {
    this.decide = decide;
    server.on('session', (session: ServerHttp2Session) => {
      session.on('error', () => undefined);
      const subject = subjectOf(session);
      if (subject !== undefined && this.#refused.has(subject)) return session.destroy();
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
    });
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
      this.#serve(stream, headers),
    );
  }

  /** Starts a proxy on a free port of loopback. */
  static async start(decide: Decide, { target, tls }: ProxyOptions = {}): Promise<TemporalProxy> {
    const connectUpstream = target === undefined ? connectToRun : () => connect(`http://${target}`);
    const server = tls
      ? createSecureServer({ requestCert: true, rejectUnauthorized: true, ...tls })
      : createServer();
    const proxy = new TemporalProxy(server, connectUpstream, decide);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  /** `host:port` for clients. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Common names of the clients' certificates on open connections. */
  subjects(): Set<string> {
    return new Set([...this.#sessions].map(subjectOf).filter((name) => name !== undefined));
  }

  /** Ends the connections of clients with this certificate, and all that they open later. */
  refuse(subject: string): void {
    this.#refused.add(subject);
    for (const session of this.#sessions) if (subjectOf(session) === subject) session.destroy();
  }

  /** Ends all connections, which clients open again: open polls end. */
  disconnect(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** Keeps calls with their requests from now on. */
  record(): void {
    this.recorded = [];
  }

  /** Recorded calls whose request names this text, e.g. a workflow ID; by method. */
  recordedCalls(text: string): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { method, request } of this.recorded ?? [])
      if (request.includes(text)) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  }

  /** Number of recorded polls of this method that have no answer yet: of one task queue, or of all. */
  openPolls(method: string, taskQueue?: string): number {
    // Field 1 of TaskQueue, with its length: longer names that begin with this one don't count.
    const name = taskQueue === undefined ? '' : `\n${String.fromCharCode(taskQueue.length)}${taskQueue}`;
    return (this.recorded ?? []).filter(
      (call) => call.isOpen && call.method === method && call.request.includes(name),
    ).length;
  }

  async close(): Promise<void> {
    this.disconnect();
    this.#upstream?.destroy();
    await new Promise((closed) => this.server.close(closed));
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => undefined);
    const [, service = '', method = ''] = String(headers[':path']).split('/');
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    if (this.recorded) {
      const call = { method, request: '', isOpen: true };
      this.recorded.push(call);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('close', () => (call.isOpen = false));
      stream.once('end', () => (call.request = messageOf(Buffer.concat(chunks)).toString('latin1')));
    }
    const status = this.decide({ service, method, headers });
    if (status) {
      this.refusedCalls += 1;
      if (status.isPassedOn) this.#send(stream, headers).resume();
      else stream.resume();
      const message = encodeURIComponent(status.message);
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'grpc-status': String(status.code),
          'grpc-message': message,
          ...(status.retryAfterSeconds === undefined
            ? {}
            : { 'grpc-status-details-bin': statusDetails(status.code, status.retryAfterSeconds) }),
        },
        { endStream: true },
      );
      return;
    }
    this.#forward(stream, headers, this.rewrite({ service, method, headers }));
  }

  #forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rewrite: ReturnType<Rewrite>): void {
    const request = this.#send(stream, headers);
    let trailers = {};
    request.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    request.on('trailers', (received) => (trailers = received));
    request.on('response', (answer, flags) => {
      if (stream.destroyed) return;
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream, waitForTrailers: !endStream });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      if (endStream) return;
      if (!rewrite) return void request.pipe(stream);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const body = Buffer.concat(chunks);
        stream.end(body.length > 0 ? bodyOf(rewrite(messageOf(body))) : body);
      });
    });
    stream.once('close', () => request.close(constants.NGHTTP2_CANCEL));
  }

  #send(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): ClientHttp2Stream {
    const request = this.#upstreamSession().request({ ...headers, ':scheme': 'http' });
    request.on('error', () => undefined);
    return stream.pipe(request);
  }

  /** Connects again when Temporal has been restarted, or ends the connection because of its age. */
  #upstreamSession(): ClientHttp2Session {
    if (this.#upstream && !this.#upstream.closed && !this.#upstream.destroyed) return this.#upstream;
    const session = this.connectUpstream();
    session.on('error', () => undefined);
    session.once('goaway', () => {
      if (this.#upstream === session) this.#upstream = undefined;
    });
    return (this.#upstream = session);
  }
}

/** Connects to the Temporal of the test run, with its certificates if it has any. */
function connectToRun(): ClientHttp2Session {
  const { address, tls } = temporalConnectConfig('')!.connectionOptions;
  if (!tls || tls === true) return connect(`http://${address}`);
  const { crt: cert, key } = tls.clientCertPair ?? {};
  return connect(`https://${address}`, {
    ca: tls.serverRootCACertificate,
    cert,
    key,
  } as SecureClientSessionOptions);
}

/** `google.rpc.Status` with a `google.rpc.RetryInfo`, in base64. */
function statusDetails(code: number, retryAfterSeconds: number): string {
  // RetryInfo { retry_delay: Duration { seconds } }
  const value = Buffer.from([0x0a, 2, 0x08, retryAfterSeconds]);
  const details = [{ type_url: 'type.googleapis.com/google.rpc.RetryInfo', value }];
  return Buffer.from(proto.google.rpc.Status.encode({ code, details }).finish()).toString('base64');
}

/** The message of a unary request or response, which may be compressed (gRPC over HTTP/2, "Length-Prefixed-Message"). */
function messageOf(body: Buffer): Buffer {
  const isCompressed = body[0] === 1;
  const message = body.subarray(5);
  return isCompressed ? gunzipSync(message) : message;
}

/** The body of a response with this message, uncompressed. */
function bodyOf(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Common name of the client's certificate. */
function subjectOf({ socket }: ServerHttp2Session): string | undefined {
  const { getPeerCertificate } = socket as Partial<TLSSocket>;
  return getPeerCertificate?.call(socket)?.subject?.CN?.toString();
}
