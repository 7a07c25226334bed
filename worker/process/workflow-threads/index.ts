/** Has the Workers of this process evaluate workflows on threads that their code may end. */
import type { OperationLoggers } from '../../logs/operation-loggers.js';
import type { Logger } from '../../../platform/observe/log.js';
import type { Settings } from '../../../platform/settings/index.js';
import type { Storage } from '../../../platform/storage/index.js';
import { replaceWorkflowCreator } from '../../../platform/temporal/internal/workflow-threads.js';
import { CrashRecord } from '../crash-record.js';
import { GuardedCreator, type CreatorOptions } from './creator.js';
import { Evaluator } from './evaluator.js';
import { Quarantine } from './quarantine.js';

export interface GuardOptions {
  settings: Pick<Settings, 'home'>;
  storage: Storage;
  logger: Logger;
  loggers: OperationLoggers;
  codeOf: CreatorOptions['codeOf'];
}

export function guardWorkflows({ settings, storage, logger, loggers, codeOf }: GuardOptions): void {
  const quarantine = new Quarantine(storage, logger);
  const { warn } = loggers.workflowSinks().defaultWorkerLogger;
  replaceWorkflowCreator(async (start) => {
    const evaluator = new Evaluator(start, new CrashRecord(settings.home), quarantine);
    await evaluator.ready();
    return new GuardedCreator(evaluator, {
      codeOf,
      warn: (info, message) => void warn.fn(info, message, { sdkComponent: 'workflow' }),
    });
  });
}
