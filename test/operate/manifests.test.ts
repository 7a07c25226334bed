/** The compose file and the Kubernetes manifests: valid, pinned, and true to the settings that processes have. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { loadSettings, SETTING_VARIABLES } from '../../platform/settings/index.js';
import { SEARCH_ATTRIBUTE_NAMES } from '../../platform/temporal/search-attributes.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { INSTALL_LIMIT_MS } from '../support/install-once.js';
import { composeGo, kubernetesValidate, kustomize } from './programs.js';

const COMPOSE_FILE = 'docker-compose.temporal.yml';
/** Variables of Longhaul that are no settings. */
const OTHER_VARIABLES = ['LONGHAUL_SECRET'];
const KNOWN = new Set<string>([...Object.values(SETTING_VARIABLES), ...OTHER_VARIABLES]);
/** Oldest and newest version of Kubernetes that the manifests are for: `preStop.sleep` is stable since 1.34. */
const KUBERNETES = ['1.34', '1.37'];

/** The settings that a process with these variables has: checks each value, too. */
const settingsOf = (environment: Record<string, string>) => loadSettings({}, environment, tmpdir());

const unknownVariables = (names: string[]) =>
  names.filter((name) => name.startsWith('LONGHAUL_') && !KNOWN.has(name));

describe(COMPOSE_FILE, () => {
  let checker: string;
  let services: Record<string, any>;
  let configs: Record<string, any>;

  beforeAll(async () => {
    checker = await composeGo();
    const model = execFileSync(checker, ['-format', 'json', COMPOSE_FILE], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    ({ services, configs } = JSON.parse(model));
  }, INSTALL_LIMIT_MS);

  const longhaul = () => Object.entries(services).filter(([, { image }]) => image === 'longhaul');

  test('without a profile it is Temporal, PostgreSQL and the UI, as docs/running.md has it', () => {
    const names = Object.keys(services).filter((name) => services[name]!.profiles === undefined);
    expect(names.sort()).toEqual(['namespace', 'postgresql', 'schema', 'temporal', 'ui']);
  });

  test('images have a version, ports are on loopback, mounted files exist', () => {
    for (const [name, { image, ports = [], volumes = [] }] of Object.entries(services)) {
      if (image !== 'longhaul') expect([name, image]).toEqual([name, expect.stringMatching(/:v?\d+\.\d+/)]);
      for (const port of ports) expect([name, port.host_ip]).toEqual([name, '127.0.0.1']);
      for (const { type, source } of volumes.filter((volume: any) => volume.type === 'bind'))
        expect([name, type, source, existsSync(source)]).toEqual([name, 'bind', source, true]);
    }
  });

  test('every process of Longhaul has valid settings, one secret and one storage', async () => {
    const processes = longhaul();
    const names = processes.map(([name]) => name);
    expect(names.sort()).toEqual(['server-1', 'server-2', 'worker-1', 'worker-2']);
    for (const [name, { environment }] of processes) {
      expect([name, unknownVariables(Object.keys(environment))]).toEqual([name, []]);
      await settingsOf(environment);
    }
    for (const variable of ['LONGHAUL_SECRET', 'LONGHAUL_STORAGE', 'LONGHAUL_TASK_QUEUE', 'TEMPORAL_ADDRESS'])
      expect(new Set(processes.map(([, { environment }]) => environment[variable])).size).toBe(1);
    const [, { environment }] = processes[0]!;
    expect(Buffer.from(environment.LONGHAUL_SECRET, 'base64').length).toBeGreaterThanOrEqual(32);
  });

  test('Prometheus calls each process by a name that the process allows', async () => {
    const { scrape_configs: jobs } = parse(configs['prometheus'].content);
    const targets: string[] = jobs
      .filter((job: any) => job.job_name.startsWith('longhaul-'))
      .flatMap((job: any) => job.static_configs.flatMap((one: any) => one.targets));
    expect(targets).toHaveLength(4);
    for (const target of targets) {
      const [name] = target.split(':') as [string];
      const { allowedHosts } = await settingsOf(services[name].environment);
      expect([name, allowedHosts]).toEqual([name, expect.arrayContaining([name])]);
    }
  });

  test('each worker has a home of its own, and longer to stop than it drains', async () => {
    const workers = longhaul().filter(([name]) => name.startsWith('worker'));
    const homes = workers.map(([, { volumes }]) => volumes.find((one: any) => one.type === 'volume').source);
    expect(new Set(homes).size).toBe(workers.length);
    for (const [, { environment, stop_grace_period: grace }] of workers) {
      const { drainTimeoutMs, stepsEndWithWorker } = await settingsOf(environment);
      expect(stepsEndWithWorker).toBe(true);
      expect(secondsOf(grace) * 1_000).toBeGreaterThan(drainTimeoutMs);
    }
  });

  test('the namespace gets every search attribute', () => {
    const [script] = services['namespace'].command;
    for (const name of SEARCH_ATTRIBUTE_NAMES) expect(script).toContain(name);
  });
});

describe.each(['base', 'release'])('deploy/kubernetes/%s', (folder) => {
  let rendered: string;
  let resources: any[];

  beforeAll(async () => {
    rendered = execFileSync(await kustomize(), ['build', resolve('deploy/kubernetes', folder)], {
      encoding: 'utf8',
    });
    resources = parseAllDocuments(rendered).map((document) => document.toJS());
  }, INSTALL_LIMIT_MS);

  const pods = () => resources.filter(({ spec }) => spec?.template?.spec?.containers);

  test.each(KUBERNETES)('is valid on Kubernetes %s', async (version) => {
    const { status, output } = await validate(rendered, version);
    expect([status, output]).toEqual([0, expect.stringContaining('passed')]);
  });

  test('every process has valid settings, and longer to end than it drains', async () => {
    const common = settingsMap();
    expect(pods().length).toBeGreaterThan(0);
    for (const { metadata, spec } of pods()) {
      const { containers, terminationGracePeriodSeconds: grace } = spec.template.spec;
      const own = containers[0].env.map((one: any) => [one.name, one.value ?? 'from-a-secret']);
      const environment = { ...common, ...Object.fromEntries(own) };
      expect([metadata.name, unknownVariables(Object.keys(environment))]).toEqual([metadata.name, []]);
      const settings = await settingsOf(environment);
      const isWorker = containers[0].args[0] === 'worker';
      if (isWorker) expect(grace * 1_000).toBeGreaterThan(settings.drainTimeoutMs);
      const port = Number(common['LONGHAUL_HEALTH_ADDRESS']!.split(':').pop());
      expect(containers[0].ports).toContainEqual(expect.objectContaining({ containerPort: port }));
      if (settings.workerRole === 'host') expect(settings.stepsEndWithWorker).toBe(true);
    }
  });

  test('pods run as a user without rights, and have probes', () => {
    for (const { spec } of pods()) {
      const { securityContext, containers } = spec.template.spec;
      expect(securityContext).toMatchObject({ runAsNonRoot: true });
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container).toMatchObject({
          livenessProbe: { httpGet: { path: '/healthz' } },
          readinessProbe: { httpGet: { path: '/readyz' } },
        });
        expect(container.image).toMatch(/:\d{4}-\d{2}-\d{2}$/);
      }
    }
  });

  test('disruption budgets and autoscalers are of resources that exist', () => {
    for (const { kind, spec } of resources) {
      if (kind === 'PodDisruptionBudget')
        expect(pods().map((one) => one.spec.template.metadata.labels)).toContainEqual(
          expect.objectContaining(spec.selector.matchLabels),
        );
      if (kind === 'HorizontalPodAutoscaler')
        expect(pods().map((one) => one.metadata.name)).toContain(spec.scaleTargetRef.name);
    }
  });
});

/** Settings of all processes in the cluster. */
function settingsMap(): Record<string, string> {
  const documents = readFileSync('deploy/kubernetes/base/settings.yaml', 'utf8').split(/^---$/m);
  return parse(documents[0]!).data;
}

async function validate(text: string, version: string): Promise<{ status: number | null; output: string }> {
  const folder = temporaryFolder('manifests');
  const file = join(folder, 'all.yaml');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(
    await kubernetesValidate(),
    ['-k', version, '--strict', file],
    { encoding: 'utf8' },
  );
  return { status, output: stdout + stderr };
}

/** Seconds of a duration as compose-go prints it: `5m30s`. */
function secondsOf(text: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
