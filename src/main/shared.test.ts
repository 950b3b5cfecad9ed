import { describe, expect, it } from 'vitest';
import { sharedRestrictions } from '../dialects/restrictions.ts';
import { settingsFrom } from './settings.ts';

const restrictions = (...flags: readonly string[]) => settingsFrom(flags, {}).restrictions;

describe('what specs may ask for', () => {
  it('is anything in one namespace, and restricted with --cluster-wide', () => {
    expect(Object.values(restrictions()).filter((list) => list !== undefined)).toEqual([]);
    expect(restrictions('--cluster-wide')).toEqual(sharedRestrictions);
  });

  it('is what the flags say, in either mode', () => {
    const flags = ['--allowed-value-from=secretKeyRef', '--allowed-repositories=a/b, c/', '--allowed-uids=0,1000-2000'];
    const said = {
      valueFrom: ['secretKeyRef'],
      repositories: ['a/b', 'c/'],
      uids: [
        { from: 0, to: 0 },
        { from: 1000, to: 2000 },
      ],
    };
    expect(restrictions(...flags)).toEqual({ ...said, serviceAccounts: undefined });
    expect(restrictions('--cluster-wide', ...flags)).toEqual({ ...said, serviceAccounts: ['default'] });
  });

  it('is anything where a flag is a star', () => {
    const all = ['value-from', 'repositories', 'service-accounts', 'uids'].map((flag) => `--allowed-${flag}=*`);
    expect(Object.values(restrictions('--cluster-wide', ...all)).filter((list) => list !== undefined)).toEqual([]);
  });

  it('has the repository of the operator’s own choice among the allowed', () => {
    expect(restrictions('--cluster-wide', '--etcd-repository=mirror/etcd').repositories).toContain('mirror/etcd');
    expect(restrictions('--etcd-repository=mirror/etcd').repositories).toBeUndefined();
  });
});
