import { describe, expect, it } from 'vitest';
import { sharedRestrictions } from '../apis/common/restrictions.ts';
import { settingsFrom } from './settings.ts';

const restrictions = (...flags: readonly string[]) => settingsFrom(flags, {}).restrictions;

describe('the restrictions of specs', () => {
  it('are empty for one namespace, and the shared defaults with --cluster-wide', () => {
    expect(Object.values(restrictions()).filter((list) => list !== undefined)).toEqual([]);
    expect(restrictions('--cluster-wide')).toEqual(sharedRestrictions);
  });

  it('follow the flags in both modes', () => {
    const flags = ['--allowed-value-from=secretKeyRef', '--allowed-repositories=a/b, c/', '--allowed-uids=0,1000-2000'];
    const given = {
      valueFrom: ['secretKeyRef'],
      repositories: ['a/b', 'c/'],
      uids: [
        { from: 0, to: 0 },
        { from: 1000, to: 2000 },
      ],
    };
    expect(restrictions(...flags)).toEqual({ ...given, serviceAccounts: undefined });
    expect(restrictions('--cluster-wide', ...flags)).toEqual({ ...given, serviceAccounts: ['default'] });
  });

  it('are lifted by flags with the value *', () => {
    const all = ['value-from', 'repositories', 'service-accounts', 'uids'].map((flag) => `--allowed-${flag}=*`);
    expect(Object.values(restrictions('--cluster-wide', ...all)).filter((list) => list !== undefined)).toEqual([]);
  });

  it('allow the repository of --etcd-repository', () => {
    expect(restrictions('--cluster-wide', '--etcd-repository=mirror/etcd').repositories).toContain('mirror/etcd');
    expect(restrictions('--etcd-repository=mirror/etcd').repositories).toBeUndefined();
  });
});
