import { describe, expect, it } from 'vitest';
import { settingsFrom } from './settings.ts';

const inPod = { MY_POD_NAME: 'etcd-operator-1', MY_POD_NAMESPACE: 'default' };

describe('the settings', () => {
  it("are those of the book's command line", () => {
    expect(settingsFrom(['--create-crd=false'], inPod)).toMatchObject({
      createCrd: false,
      clusterWide: false,
      podName: 'etcd-operator-1',
      podNamespace: 'default',
      listenAddress: { host: '0.0.0.0', port: 8080 },
      chaosLevel: -1,
      logFormat: 'json',
    });
  });

  it("are the original's when nothing is said", () => {
    expect(settingsFrom([], inPod)).toMatchObject({ createCrd: true, clusterWide: false });
  });

  it('may be written with one dash, as Go programs allow', () => {
    const flags = [
      '-create-crd=false',
      '-cluster-wide',
      '-listen-addr=127.0.0.1:9999',
      '-chaos-level',
      '1',
      '-gc-interval=10m',
    ];
    expect(settingsFrom(flags, inPod)).toMatchObject({
      createCrd: false,
      clusterWide: true,
      listenAddress: { host: '127.0.0.1', port: 9999 },
      chaosLevel: 1,
    });
  });

  it("of the other API's operator are understood", () => {
    const flags = ['--metrics-addr=:9090', '--enable-leader-election', '--leader-election-id=eco', '--proxy-url=proxy'];
    expect(settingsFrom([...flags, '--dialects=improbable'], { ...inPod, DISABLE_WEBHOOKS: '1' })).toMatchObject({
      listenAddress: { host: '0.0.0.0', port: 9090 },
      lease: 'eco',
      dialects: ['improbable'],
      ignored: ['--proxy-url', 'DISABLE_WEBHOOKS'],
    });
    expect(settingsFrom(['--enable-leader-election=false'], inPod).lease).toBeUndefined();
    expect(settingsFrom([], inPod)).toMatchObject({ lease: 'etcd-operator', dialects: undefined, ignored: [] });
  });

  it("are for what the original's program of that name does", () => {
    const groups = (name?: string) => settingsFrom([], inPod, name).groups;
    expect(groups('etcd-backup-operator')).toEqual(['backups']);
    expect(groups('etcd-restore-operator')).toEqual(['restores']);
    expect(groups('etcd-operator')).toEqual(['clusters', 'backups', 'restores']);
    expect(groups()).toEqual(groups('etcd-operator'));
  });

  it('take "run" for the command that is meant when none is given', () => {
    expect(settingsFrom(['run', '--workers=3'], inPod)).toMatchObject({ workers: 3 });
  });
});
