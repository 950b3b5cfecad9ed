import { afterEach, describe, expect, it, vi } from 'vitest';
import { settingsFrom } from './settings.ts';

/** The error message for flags that the operator refuses. */
function refusalOf(...flags: readonly string[]): string {
  vi.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('ended');
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(() => settingsFrom(flags, {})).toThrow('ended');
  return stderr.mock.calls.join();
}

afterEach(() => vi.restoreAllMocks());

describe('--namespaces', () => {
  it('accepts names separated by commas without duplicates, or * for all', () => {
    const namespaces = (text: string) => settingsFrom([`--namespaces=${text}`], {}).namespaces;
    expect(namespaces('team-a, team-b,team-a')).toEqual(['team-a', 'team-b']);
    expect(namespaces('*')).toEqual(['*']);
    expect(settingsFrom([], {}).namespaces).toBeUndefined();
  });

  it.each(['', 'a,', 'A', 'a,*', 'a b', '-a', 'a'.repeat(64)])('refuses %j', (text) => {
    expect(refusalOf(`--namespaces=${text}`)).toContain('must be names of namespaces');
  });

  it('is refused with --cluster-wide, and with --namespace', () => {
    expect(refusalOf('--namespaces=a', '--cluster-wide')).toMatch(/--namespaces and --cluster-wide exclude each other/);
    expect(refusalOf('--namespaces=a', '--namespace=b')).toMatch(/--namespaces and --namespace exclude each other/);
    expect(settingsFrom(['--namespaces=a', '--cluster-wide=false'], {}).namespaces).toEqual(['a']);
  });
});

describe('credentials of the operator without --store-urls', () => {
  it.each(['--store-secret', '--store-service-account'])('are refused for several namespaces: %s', (flag) => {
    expect(refusalOf(`${flag}=s`, '--cluster-wide')).toContain(`${flag} with --cluster-wide needs --store-urls`);
    expect(refusalOf(`${flag}=s`, '--namespaces=a,b')).toContain(`${flag} with --namespaces needs --store-urls`);
    expect(refusalOf(`${flag}=s`, '--namespaces=*')).toContain('needs --store-urls');
  });

  it('are accepted for one namespace, and with --store-urls for all', () => {
    expect(settingsFrom(['--store-secret=s'], {}).store.secret).toBe('s');
    const urls = '--store-urls=s3://b/{{ .Namespace }}/';
    expect(settingsFrom(['--store-secret=s', '--cluster-wide', urls], {}).store.urls).toHaveLength(1);
  });
});
