/** The shipped alert rules, configuration and dashboard, without a stack. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { METRICS } from '../../platform/observe/metrics/catalog.js';
import { INSTALL_MS } from '../support/limits.js';
import { expressionsOf, panelsOf, type Dashboard } from './dashboard.js';
import { promtool } from './prometheus.js';

jest.setTimeout(INSTALL_MS);

const FOLDER = 'deploy/prometheus';
const { groups } = parse(readFileSync(`${FOLDER}/longhaul.rules.yml`, 'utf8')) as {
  groups: { rules: { alert: string; expr: string; labels: any; annotations: Record<string, string> }[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const documented = readFileSync('docs/metrics.md', 'utf8');

test('promtool accepts the rules and the example configuration', async () => {
  expect(await promtool(['check', 'config', 'prometheus.yml'], FOLDER)).toContain(
    `${alerts.length} rules found`,
  );
});

test('promtool finds that each alert fires, and is quiet, when it should', async () => {
  expect(await promtool(['test', 'rules', 'longhaul.rules.test.yml'], FOLDER)).toContain('SUCCESS');
});

describe.each(alerts)('$alert', ({ alert, expr, labels, annotations }) => {
  test('has a severity, a summary, a description and a runbook that exists', () => {
    expect(labels.severity).toMatch(/^(critical|warning)$/);
    expect(annotations['summary']).not.toBe('');
    expect(annotations['description']).not.toBe('');
    expect(annotations['runbook_url']).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
    const section = new RegExp(`^### ${alert}\n([\\s\\S]*?)(?=^##|$(?![\\s\\S]))`, 'm').exec(documented)?.[1];
    expect(section).toContain('```sh');
  });

  test('has a case in which it fires and one in which it is quiet', () => {
    const { tests } = parse(readFileSync(`${FOLDER}/longhaul.rules.test.yml`, 'utf8')) as {
      tests: { name: string }[];
    };
    const names = tests.map(({ name }) => name);
    expect(names).toContain(`${alert} fires`);
    expect(names).toContain(`${alert} is quiet`);
  });

  test('uses metrics that exist', () => expect(unknownIn(expr)).toEqual([]));
});

describe('the dashboard', () => {
  let dashboard: Dashboard;
  beforeAll(() => {
    dashboard = JSON.parse(readFileSync('deploy/grafana/longhaul.json', 'utf8')) as Dashboard;
  });

  test('has panels with a title, a description, a place of their own and queries of its data source', () => {
    const panels = panelsOf(dashboard);
    expect(panels.length).toBeGreaterThan(25);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
    expect(new Set(places).size).toBe(places.length);
    for (const { title, description, type, targets, gridPos } of panels) {
      expect([title, type]).toEqual([title, expect.stringMatching(/^(timeseries|stat)$/)]);
      expect(description).toMatch(/\.$/);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (const { datasource } of targets!)
        expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    }
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource']);
  });

  test('uses metrics that exist, and every metric of Longhaul is on it or in an alert', () => {
    const expressions = expressionsOf(dashboard);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
    const text = [...expressions, ...alerts.map(({ expr }) => expr)].join('\n');
    // Always 1: for joins.
    expect(Object.keys(METRICS).filter((name) => !text.includes(name))).toEqual(['longhaul_process_info']);
  });

  test('is provisioned by files that are YAML', () => {
    for (const folder of ['datasources', 'dashboards'])
      expect(parse(readFileSync(`deploy/grafana/provisioning/${folder}/longhaul.yml`, 'utf8'))).toMatchObject(
        { apiVersion: 1 },
      );
  });
});

/** Names of metrics of Longhaul in a query that the catalog lacks. */
function unknownIn(query: string): string[] {
  const names = (query.match(/\blonghaul_\w+/g) ?? []).map((name) =>
    name in METRICS ? name : name.replace(/_(bucket|count|sum)$/, ''),
  );
  return names.filter((name) => !(name in METRICS));
}
