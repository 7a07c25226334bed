/** Environment of pipeline steps. */
import type { Settings } from './settings/index.js';

/** Worker variables that every pipeline step gets: paths, locale, proxies and certificates. */
const STEP_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|(https?|ftp|all|no)_proxy|(HTTPS?|FTP|ALL|NO)_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CAINFO|PIP_CERT|AWS_CA_BUNDLE)$/;

/** Worker variables for pipeline steps: the usual ones, and those named in the settings. */
export function stepVariables(
  { stepEnvironment }: Pick<Settings, 'stepEnvironment'>,
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (STEP_VARIABLES.test(entry[0]) || stepEnvironment.includes(entry[0])),
  );
  return Object.fromEntries(passed);
}
