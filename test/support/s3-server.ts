/** A real S3 server: versitygw over a temporary folder, built with Go once. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../stack/cli-process.js';
import { installGoProgram } from './go-programs.js';
import { cacheFolder } from './install-once.js';
import { Service } from './service.js';

const PROGRAM = {
  name: 'versitygw',
  path: 'github.com/versity/versitygw/cmd/versitygw',
  version: '1.8.0',
  duration: 'a minute',
};

/** Variables of the AWS SDK for the server's only user. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'longhaul', AWS_SECRET_ACCESS_KEY: 'longhaul-secret' };
/** Disables the SDK's warning about versions of Node.js, which tests of output would see. */
const QUIET = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

export class S3Server {
  private constructor(
    readonly service: Service,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** @param buckets that it has from the start */
  static async start(...buckets: string[]): Promise<S3Server> {
    const path = await installGoProgram(PROGRAM, join(cacheFolder(), `versitygw-${PROGRAM.version}`));
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-s3-'));
    const port = await freePort();
    for (const bucket of buckets) mkdirSync(join(folder, 'buckets', bucket), { recursive: true });
    const sidecar = join(folder, 'sidecar');
    mkdirSync(sidecar);
    const service = await Service.start({
      name: 'versitygw',
      folder,
      command: [
        path,
        ...[
          '--port',
          `127.0.0.1:${port}`,
          '--keep-alive',
          '--quiet',
          '--access-log',
          join(folder, 'access.log'),
        ],
        // Not every file system of a temporary folder has extended attributes.
        ...['posix', '--sidecar', sidecar, join(folder, 'buckets')],
      ],
      environment: {
        ...process.env,
        ROOT_ACCESS_KEY_ID: S3_CREDENTIALS.AWS_ACCESS_KEY_ID,
        ROOT_SECRET_ACCESS_KEY: S3_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
      },
      isReady: () =>
        fetch(`http://127.0.0.1:${port}`).then(
          () => true,
          () => false,
        ),
    });
    return new S3Server(service, folder, port);
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Variables of a process with a storage in a bucket. @param port of a link to it. Default: the server's own */
  environment(storage: string, port = this.port): Record<string, string> {
    return {
      ...S3_CREDENTIALS,
      ...QUIET,
      LONGHAUL_STORAGE: storage,
      LONGHAUL_STORAGE_ENDPOINT: `http://127.0.0.1:${port}`,
      LONGHAUL_STORAGE_REGION: 'us-east-1',
    };
  }

  /** Names of the requests that it has answered, such as `PutObject`, oldest first. */
  requests(): string[] {
    const path = join(this.folder, 'access.log');
    if (!existsSync(path)) return [];
    return [...readFileSync(path, 'utf8').matchAll(/ s3_(\w+) /g)].map(([, name]) => name!);
  }

  /** Makes small objects, without requests. @param folder bucket and beginning of the keys */
  fill(folder: string, count: number): void {
    const path = join(this.folder, 'buckets', folder);
    mkdirSync(path, { recursive: true });
    for (let at = 0; at < count; at += 1) writeFileSync(join(path, String(at)), 'x');
  }

  async stop(): Promise<void> {
    await this.service.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
