import { describe, expect, it } from 'vitest';
import type { Agent, AgentFacts } from '../../core/backup/agent.ts';
import { templateFor } from './cluster-template.ts';

const context = {
  clusters: { dialect: { group: 'g', version: 'v1' } },
  dialect: { manualRestoreHint: (cluster: string) => `describe "${cluster}" by hand` },
} as never;
const restore = { template: 'in-backup', intent: { cluster: 'db' } } as never;
const read = (facts: AgentFacts): Agent =>
  ({ state: { is: 'ended', report: { ok: true, message: '', facts } } }) as unknown as Agent;

describe('the cluster template of a restore', () => {
  it('is the spec saved in the backup, without paused', () => {
    const cluster = { apiVersion: 'g/v1', spec: { size: 3, paused: true } };
    expect(templateFor(restore, read({ cluster }), context)).toEqual({ spec: { size: 3 } });
  });

  it('is unknown until the backup is read, without a saved spec, or with a spec of another API', () => {
    expect(templateFor(restore, undefined, context)).toContain('has not been read');
    expect(templateFor(restore, read({}), context)).toContain('describe "db" by hand');
    const other = { apiVersion: 'other/v1', spec: {} };
    expect(templateFor(restore, read({ cluster: other }), context)).toContain(
      'of other/v1, but this restore is of g/v1: describe "db" by hand',
    );
  });

  it('is not read from the backup if the restore has a template or an existing cluster', () => {
    const template = { spec: { size: 1 } };
    expect(templateFor({ template, intent: {} } as never, undefined, context)).toBe(template);
    expect(templateFor({ template: undefined, intent: {} } as never, undefined, context)).toBe(undefined);
  });
});
