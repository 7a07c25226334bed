/** The shipped dashboard, as Grafana's JSON model has it. */
export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; datasource: object; legendFormat?: string }[];
}

export interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string }[] };
}

/** Panels, without the headings of rows. */
export function panelsOf({ panels }: Dashboard): Panel[] {
  return panels.filter(({ type }) => type !== 'row');
}

export function expressionsOf(dashboard: Dashboard): string[] {
  return panelsOf(dashboard).flatMap(({ targets }) => targets!.map(({ expr }) => expr));
}
