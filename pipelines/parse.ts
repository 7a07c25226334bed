/** Parses and checks a pipeline's file, and reports all problems with their places. */
import { assemble } from './assemble.js';
import { checkFile } from './check.js';
import { reportGaps } from './documentation-gaps.js';
import { PIPELINE_HINTS } from './hints.js';
import { reportIssues } from './issues.js';
import type { Pipeline } from './pipeline.js';
import { pipelineFile } from './schema.js';
import { parseYamlFile, readYamlFile, defaultToolName, type ParsedFile } from './yaml-file.js';

export { formatProblem, type Problem } from './problems.js';

/**
 * Parses and checks a pipeline.
 *
 * @param text the file's text, or its bytes, which have to be UTF-8
 * @param path name of the file in problems; its last part is the default of the tool's name
 */
export function parsePipeline(text: string | Uint8Array, path: string): ParsedFile<Pipeline> {
  return parseYamlFile(text, path, (data, report) => {
    const parsed = pipelineFile.safeParse(data.value);
    if (!parsed.success) reportIssues(data.value, parsed.error.issues, report, PIPELINE_HINTS);
    checkFile(data.value, report);
    const fileName = defaultToolName(data.value, path, report);
    if (!parsed.success) return undefined;
    return (reportGap) => {
      const { name = fileName } = parsed.data;
      const pipeline = assemble(parsed.data, name, (keyPath) => data.sourceOf(keyPath));
      reportGaps(data.value, pipeline, reportGap);
      return pipeline;
    };
  });
}

/** Reads and parses a file. An unreadable file gives a problem. */
export function parsePipelineFile(path: string): ParsedFile<Pipeline> {
  return readYamlFile(path, parsePipeline);
}
