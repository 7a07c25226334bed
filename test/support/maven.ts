/** Java programs that tests run, built once by Maven. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { installOnce } from './install-once.js';
import { runTool } from './run-tool.js';

/**
 * Packages a project of the repository, unless that has been done for its very sources. Needs a JDK and Maven.
 *
 * @param name of the folder in the cache
 * @param project folder of pom.xml
 * @returns Maven's folder of what it has built
 */
export async function buildWithMaven(name: string, project: string): Promise<string> {
  const files = globSync(['pom.xml', 'src/main/**'], { cwd: project }).toSorted();
  const inputs = files.map((file) => join(project, file));
  const folder = await installOnce(name, inputs, async (copy) => {
    // Maven writes beside the sources.
    mkdirSync(copy, { recursive: true });
    for (const file of files) cpSync(join(project, file), join(copy, file));
    await runTool('mvn', ['--batch-mode', '--quiet', 'package'], copy);
  });
  return join(folder, 'target');
}
