/** Programs of Node.js that end with any exit code. */
import { execFile } from 'node:child_process';

export interface NodeRun {
  code: number;
  /** Text of both streams. */
  output: string;
}

export function runNode(args: string[], { cwd = '.', input = '' } = {}): Promise<NodeRun> {
  return new Promise((done) => {
    const child = execFile(process.execPath, args, { cwd }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
    child.stdin!.end(input);
  });
}
