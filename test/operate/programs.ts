/** Programs that check what `deploy/` and the compose file hold, installed once. */
import { join, resolve } from 'node:path';
import { installGoProgram } from '../support/go-programs.js';
import { cacheFolder } from '../support/install-once.js';
import { installVenv } from '../support/python.js';

const KUSTOMIZE = {
  name: 'kustomize',
  path: 'sigs.k8s.io/kustomize/kustomize/v5',
  version: '5.7.1',
  duration: '1 minute',
};
const COMPOSE = {
  name: 'compose-go',
  path: 'github.com/compose-spec/compose-go/v2/cmd',
  version: '2.16.2',
  duration: '1 minute',
};

/** Renders Kubernetes manifests: `kustomize build FOLDER`. */
export function kustomize(): Promise<string> {
  return installGoProgram(KUSTOMIZE, join(cacheFolder(), `kustomize-${KUSTOMIZE.version}`));
}

/** The parser of Docker Compose: checks a file, and prints the model. */
export function composeGo(): Promise<string> {
  return installGoProgram(COMPOSE, join(cacheFolder(), `compose-go-${COMPOSE.version}`));
}

/** Checks manifests against the schemas of a Kubernetes version. */
export async function kubernetesValidate(): Promise<string> {
  const bin = await installVenv('kubernetes-validate', resolve('test/operate/requirements.txt'));
  return join(bin, 'kubernetes-validate');
}
