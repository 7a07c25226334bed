/**
 * Layout of a host's disk, under LONGHAUL_HOME:
 *
 *     workspaces/<workflow ID>/operation.json           the operation that owns the folder
 *     workspaces/<workflow ID>/inputs.<time>.json       its inputs if they are large, shared by its children
 *     workspaces/<workflow ID>/<child>/
 *       workspace/                                      the steps' working directory
 *       inputs.json, item.json, artifacts/, tmp/
 *       steps/<step>/<round>.<attempt>/                 one run of a step: the journal of its launcher
 *     running-steps/<step ID>.json                      a step that a worker is running
 */
import { join } from 'node:path';
import { childName, type ChildId } from '../../pipelines/run.js';
import { encodeFileName } from '../../platform/home/file-name.js';

/** The operation that owns a folder of workspaces: enough to ask Temporal whether it is still needed. */
export interface OperationFile {
  workflowId: string;
  namespace: string;
}

export type ChildPaths = ReturnType<typeof childPaths>;

export function workspacesFolder(home: string): string {
  return join(home, 'workspaces');
}

export function operationFolder(home: string, workflowId: string): string {
  return join(workspacesFolder(home), encodeFileName(workflowId));
}

export function operationFile(folder: string): string {
  return join(folder, 'operation.json');
}

/** @param createdAt ISO 8601: a deleted operation with the same workflow ID had other inputs */
export function sharedInputsFile(folder: string, createdAt: string | undefined): string {
  return join(folder, `inputs.${createdAt === undefined ? 0 : Date.parse(createdAt)}.json`);
}

export function childPaths(home: string, workflowId: string, child: ChildId) {
  const folder = join(operationFolder(home, workflowId), encodeFileName(childName(child)));
  return {
    folder,
    workspace: join(folder, 'workspace'),
    inputs: join(folder, 'inputs.json'),
    item: join(folder, 'item.json'),
    artifacts: join(folder, 'artifacts'),
    tmp: join(folder, 'tmp'),
    steps: join(folder, 'steps'),
    /** File that names the owning operation: its workflow ID and creation time. */
    owner: join(folder, 'owner.json'),
    /** File that names the operation that took the folder over. */
    takenOverBy: join(folder, 'taken-over-by.json'),
  };
}

export function runningStepsFolder(home: string): string {
  return join(home, 'running-steps');
}
