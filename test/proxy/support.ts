/** Two servers behind a proxy, each of which can be killed and started again; one worker. */
import { eventually, freePort } from '../stack/cli-process.js';
import { answers } from '../support/service.js';
import { type Part, TestStack } from '../support/test-stack.js';
import { RoundRobinProxy } from './round-robin.js';

export class TwoServers {
  readonly #servers = new Map<number, Part>();

  private constructor(
    readonly parts: TestStack,
    readonly proxy: RoundRobinProxy,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<TwoServers> {
    // Own servers: tests kill them. The run's worker has the default settings.
    const hasSettings = Object.keys(environment).length > 0;
    const parts = await (hasSettings ? TestStack.start(environment) : TestStack.serverOnSharedWorker({}));
    const ports = [parts.port, await freePort()];
    const two = new TwoServers(parts, await RoundRobinProxy.start(ports));
    two.#servers.set(ports[0]!, parts.parts[0]!);
    two.#servers.set(ports[1]!, parts.server({ LONGHAUL_PORT: String(ports[1]) }));
    await two.#ready(ports[1]!);
    return two;
  }

  get ports(): number[] {
    return [...this.#servers.keys()];
  }

  /** kill -9; the other one stays. */
  async kill(port: number): Promise<void> {
    await this.#servers.get(port)!.end('SIGKILL');
  }

  /** Ends it in good order; the other one stays. */
  async end(port: number): Promise<void> {
    await this.#servers.get(port)!.end('SIGTERM');
  }

  async restart(port: number): Promise<void> {
    this.#servers.set(port, this.parts.server({ LONGHAUL_PORT: String(port) }));
    await this.#ready(port);
  }

  async #ready(port: number): Promise<void> {
    await eventually(`the server on ${port} is ready`, () => answers(`http://127.0.0.1:${port}/readyz`));
  }

  /** Kills the server that works on an open request with this text, and says which one it was. */
  async killServing(text: string): Promise<number> {
    const { port } = await eventually(`a server works on ${text}`, () => this.proxy.open(text));
    await this.kill(port);
    return port;
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.parts.stop();
  }
}
