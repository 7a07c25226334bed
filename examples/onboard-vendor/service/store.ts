/**
 * Tables of all systems, in SQLite. A POST's record and its idempotency key are written in one transaction: the same key gets the same
 * answer for ever, also after its record was deleted, so a request that arrives late creates nothing.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { COLLECTIONS, type Body, type Collection } from './collections.js';
import { JOB_COLLECTION, JOBS_TABLE, jobAnswer, jobArn, type JobRow } from './jobs.js';

export interface Answer {
  status: number;
  body: object;
}

export class Store {
  readonly #database: InstanceType<typeof sqlite.Database>;

  /**
   * @param path of the database, for one process. Default: in memory
   * @param jobMs how long background checks take, in milliseconds; the control port changes it
   */
  constructor(
    path: string | undefined,
    public jobMs: number,
  ) {
    if (path) {
      mkdirSync(dirname(path), { recursive: true });
      // Left by a process that was killed: SQLite in WebAssembly locks by a folder.
      rmSync(`${path}.lock`, { recursive: true, force: true });
    }
    this.#database = new sqlite.Database(path);
    for (const { table, columns } of Object.values(COLLECTIONS))
      this.#database.exec(
        `CREATE TABLE IF NOT EXISTS ${table} (number INTEGER PRIMARY KEY AUTOINCREMENT, ${columns.join(', ')})`,
      );
    this.#database.exec(JOBS_TABLE);
    this.#database.exec(
      'CREATE TABLE IF NOT EXISTS requests (key TEXT PRIMARY KEY, digest TEXT, status INTEGER, body TEXT, times INTEGER)',
    );
  }

  /** Creates a record, or repeats the answer that its key got before. */
  post(path: string, key: string, body: Body): Answer {
    const digest = createHash('sha256')
      .update(JSON.stringify([path, body]))
      .digest('hex');
    return this.#transaction(() => {
      const before = this.#database.get('SELECT * FROM requests WHERE key = ?', key);
      if (!before) {
        const { status, body: answer } = this.#create(path, key, body);
        this.#database.run('INSERT INTO requests VALUES (?, ?, ?, ?, 1)', [
          key,
          digest,
          status,
          JSON.stringify(answer),
        ]);
        return { status, body: answer };
      }
      this.#database.run('UPDATE requests SET times = times + 1 WHERE key = ?', key);
      if (before['digest'] !== digest)
        return { status: 422, body: { problem: `the key ${key} belongs to another request` } };
      return { status: Number(before['status']), body: JSON.parse(String(before['body'])) as object };
    });
  }

  get(path: string, id: string): Answer | undefined {
    if (path !== JOB_COLLECTION) {
      const collection = COLLECTIONS[path]!;
      const row = this.#database.get(
        `SELECT * FROM ${collection.table} WHERE number = ?`,
        numberOf(collection, id),
      );
      return row ? { status: 200, body: { id, ...row } } : undefined;
    }
    const job = this.#database.get('SELECT * FROM jobs WHERE arn = ?', id) as unknown as JobRow | null;
    return job ? { status: 200, body: jobAnswer(job, this.jobMs) } : undefined;
  }

  /** Deletes a record, or cancels a job that still runs. A record that is not there is as good as deleted. */
  delete(path: string, id: string): Answer {
    if (path === JOB_COLLECTION) {
      const sql = 'UPDATE jobs SET cancelledAt = ? WHERE arn = ? AND cancelledAt IS NULL AND startedAt > ?';
      this.#database.run(sql, [Date.now(), id, Date.now() - this.jobMs]);
    } else {
      const collection = COLLECTIONS[path]!;
      this.#database.run(`DELETE FROM ${collection.table} WHERE number = ?`, numberOf(collection, id));
    }
    return { status: 204, body: {} };
  }

  /** All rows of all systems, and of the requests that they know; jobs with their state. */
  tables(): Record<string, object[]> {
    const rowsOf = (table: string) => this.#database.all(`SELECT * FROM ${table}`);
    const tables = Object.values(COLLECTIONS).map(({ table }) => [table, rowsOf(table)] as const);
    const jobs = rowsOf('jobs').map((row) => jobAnswer(row as unknown as JobRow, this.jobMs));
    return { ...Object.fromEntries(tables), jobs, requests: rowsOf('requests') };
  }

  /** Deletes all rows. */
  clear(): void {
    for (const table of Object.keys(this.tables())) this.#database.exec(`DELETE FROM ${table}`);
  }

  close(): void {
    this.#database.close();
  }

  #create(path: string, key: string, body: Body): Answer {
    if (path === JOB_COLLECTION) {
      const job: JobRow = {
        arn: jobArn(key),
        vendor: String(body['vendor']),
        startedAt: Date.now(),
        cancelledAt: null,
      };
      this.#database.run('INSERT INTO jobs VALUES (?, ?, ?, NULL)', [job.arn, job.vendor, job.startedAt]);
      return { status: 202, body: { id: job.arn } };
    }
    const { table, prefix, columns, problem } = COLLECTIONS[path]!;
    const found = problem?.(body);
    if (found) return { status: 422, body: { problem: found } };
    const places = columns.map(() => '?').join(', ');
    const { lastInsertRowid } = this.#database.run(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`,
      columns.map((column) => body[column] ?? null),
    );
    return { status: 201, body: { id: `${prefix}-${1000 + Number(lastInsertRowid)}` } };
  }

  #transaction<Result>(work: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

function numberOf({ prefix }: Collection, id: string): number {
  return Number(id.slice(prefix.length + 1)) - 1000;
}
