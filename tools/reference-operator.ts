import type { Option } from 'commander';
import { Counter, Gauge, Registry } from 'prom-client';
import { operatorCommand } from '../src/operator/settings.ts';
import { backupMetrics, restoreMetrics } from '../src/operator/telemetry/backup-metrics.ts';
import type { Log } from '../src/operator/telemetry/log.ts';
import { clusterMetrics, passMetrics } from '../src/operator/telemetry/metrics.ts';

/** Text with `<`, `|` and line breaks must not be read as HTML or as the end of a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows].map(row).join('\n');

const namesOf = ({ flags }: Option): string => `\`${flags}\``;

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription !== undefined) return `\`${defaultValueDescription}\``;
  if (defaultValue === undefined) return '';
  return `\`${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}\``;
}

const meaningOf = ({ description, argChoices }: Option): string =>
  [description, ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`])].filter(Boolean).join('; ');

/** The reference page of flags and environment. */
export function operatorFlags(): string {
  const options = operatorCommand().options.toSorted((a, b) => a.flags.localeCompare(b.flags, 'en'));
  return `# Flags and environment

<!-- Generated from src/operator/settings.ts by tools/generate-crds.ts. -->

Flags of \`etcd-operator\`. A boolean flag without a value is true. Flags with one dash work too. An invalid flag or combination ends the
program with a message. \`etcd-operator agent --help\` lists the [agents](stores.md#agents).

${table(
  ['flag', 'default', 'meaning'],
  options.map((option) => [namesOf(option), defaultOf(option), cell(meaningOf(option))]),
)}

Where to use which: [namespaces](../guide/namespaces.md), [security](security.md#flags), [backups](../guide/backups.md#credentials-of-the-operator).

## Environment

| variable | meaning |
| --- | --- |
| \`MY_POD_NAMESPACE\` | namespace of the operator's pod, from the downward API: its Lease, and by default the namespace to serve |
| \`MY_POD_NAME\` | name of the operator's pod, from the downward API: identity in the Lease, target of Events, source of the agent image |
| \`DISABLE_WEBHOOKS\` | accepted for compatibility with the improbable original, no effect |
`;
}

const silent = { info: () => undefined, warn: () => undefined } as unknown as Log;

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly type: 'counter' | 'gauge' | 'histogram';
}

function typeOf(metric: unknown): Described['type'] {
  if (metric instanceof Counter) return 'counter';
  return metric instanceof Gauge ? 'gauge' : 'histogram';
}

/** The metrics that the operator registers, by name. */
function registered(): readonly Described[] {
  const register = new Registry();
  passMetrics(register, silent);
  clusterMetrics(register);
  backupMetrics(register, silent);
  restoreMetrics(register, silent);
  const metrics = register.getMetricsAsArray() as unknown as readonly Omit<Described, 'type'>[];
  return metrics
    .map((metric) => ({ name: metric.name, help: metric.help, labelNames: metric.labelNames, type: typeOf(metric) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** The reference page of metrics. */
export const operatorMetrics = (): string => `# Metrics

<!-- Generated from src/operator/telemetry by tools/generate-crds.ts. -->

The operator serves \`/metrics\` in the Prometheus format at \`--listen-addr\` ([access](../guide/namespaces.md#metrics)). The names of cluster
metrics are those of the coreos original. The default metrics of Node (\`process_*\`, \`nodejs_*\`) are served too.

${table(
  ['metric', 'type', 'labels', 'meaning'],
  registered().map(({ name, type, labelNames, help }) => [
    `\`${name}\``,
    type,
    labelNames.map((label) => `\`${label}\``).join(', '),
    cell(help),
  ]),
)}

Alerts: [day 2](../guide/day-2.md#alerts).
`;
