/** Waits for work that the command itself started. */
import type { Command } from 'commander';
import { print, printJson, say } from '../console.js';
import { isJson } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { follow } from './follow.js';
import { exitCodeOf, printOutcome } from './outcome.js';
import type { Session } from '../client/session.js';
import type { Task } from '../client/wire.js';

/** Prints the token, waits for the task, and prints its outcome. @returns the exit code */
export async function waitFor(session: Session, command: Command, tool: string, task: Task): Promise<number> {
  if (!isJson(command)) say(`${tool} runs as ${task.taskId}`);
  const closed = await follow(session, command, task.taskId, { isKnown: true });
  if (!isJson(command)) printOutcome(closed);
  return exitCodeOf(closed);
}

/** Prints the token without waiting. @returns the exit code */
export function printToken(command: Command, task: Task): number {
  if (isJson(command)) printJson(task);
  else print(task.taskId);
  return EXIT.ok;
}
