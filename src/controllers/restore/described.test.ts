import { describe, expect, it } from 'vitest';
import type { Agent, AgentFacts } from '../../core/model/agent.ts';
import { templateFor } from './described.ts';

const tools = {
  clusters: { dialect: { group: 'g', version: 'v1' } },
  dialect: { describedByHand: (cluster: string) => `describe "${cluster}" by hand` },
} as never;
const restore = { template: 'in-backup', intent: { cluster: 'db' } } as never;
const read = (facts: AgentFacts): Agent =>
  ({ state: { is: 'ended', report: { ok: true, message: '', facts } } }) as unknown as Agent;

describe('the cluster that a backup is of', () => {
  it('is made as it was, but goes on', () => {
    const cluster = { apiVersion: 'g/v1', spec: { size: 3, paused: true } };
    expect(templateFor(restore, read({ cluster }), tools)).toEqual({ spec: { size: 3 } });
  });

  it('is not known before the backup was read, nor where it says nothing, nor where it is of another API', () => {
    expect(templateFor(restore, undefined, tools)).toContain('has not been read');
    expect(templateFor(restore, read({}), tools)).toContain('describe "db" by hand');
    const other = { apiVersion: 'other/v1', spec: {} };
    expect(templateFor(restore, read({ cluster: other }), tools)).toContain(
      'of other/v1, and this restore is of g/v1: describe "db" by hand',
    );
  });

  it('is not looked for where somebody has described another, or there is one', () => {
    const template = { spec: { size: 1 } };
    expect(templateFor({ template, intent: {} } as never, undefined, tools)).toBe(template);
    expect(templateFor({ template: undefined, intent: {} } as never, undefined, tools)).toBe(undefined);
  });
});
