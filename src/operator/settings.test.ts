import { describe, expect, it, vi } from 'vitest';
import { settingsFrom } from './settings.ts';

const inPod = { MY_POD_NAME: 'etcd-operator-1', MY_POD_NAMESPACE: 'default' };

describe('the settings', () => {
  it('are read from the flags and the environment of the pod', () => {
    expect(settingsFrom(['--create-crd=false'], inPod)).toMatchObject({
      createCrd: false,
      clusterWide: false,
      podName: 'etcd-operator-1',
      podNamespace: 'default',
      listenAddress: { host: undefined, port: 8080 },
      chaosLevel: -1,
      logFormat: 'json',
    });
  });

  it("without flags have the original's defaults", () => {
    expect(settingsFrom([], inPod)).toMatchObject({ createCrd: true, clusterWide: false });
  });

  it('accept flags with one dash, as Go programs do', () => {
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

  it('accept IPv4 and IPv6 listen addresses, and wildcard addresses as Go programs do', () => {
    const listensAt = (text: string) => settingsFrom([`--listen-addr=${text}`], inPod).listenAddress;
    expect(listensAt('[::1]:8080')).toEqual({ host: '::1', port: 8080 });
    for (const anywhere of ['0.0.0.0:8080', '[::]:8080', ':8080'])
      expect(listensAt(anywhere)).toEqual({ host: undefined, port: 8080 });
  });

  it("accept the flags of the improbable API's original operator", () => {
    const flags = ['--metrics-addr=:9090', '--enable-leader-election', '--leader-election-id=eco', '--proxy-url=proxy'];
    expect(settingsFrom([...flags, '--dialects=improbable'], { ...inPod, DISABLE_WEBHOOKS: '1' })).toMatchObject({
      listenAddress: { host: undefined, port: 9090 },
      lease: 'eco',
      dialects: ['improbable'],
      ignored: ['--proxy-url', 'DISABLE_WEBHOOKS'],
    });
    expect(settingsFrom(['--enable-leader-election=false'], inPod).lease).toBeUndefined();
    expect(settingsFrom([], inPod)).toMatchObject({ lease: 'etcd-operator', dialects: undefined, ignored: [] });
  });

  it('have agent images for all agents, or for backup and restore agents', () => {
    const images = (...flags: readonly string[]) => settingsFrom(flags, inPod).agentImages;
    expect(images()).toEqual({ backup: undefined, restore: undefined });
    expect(images('--agent-image=a')).toEqual({ backup: 'a', restore: 'a' });
    expect(images('--agent-image=a', '--backup-agent-image=b')).toEqual({ backup: 'b', restore: 'a' });
    expect(images('--restore-agent-image=r')).toEqual({ backup: undefined, restore: 'r' });
  });

  it('select the controllers of the original program by program name', () => {
    const groups = (name?: string) => settingsFrom([], inPod, name).groups;
    expect(groups('etcd-backup-operator')).toEqual(['backups']);
    expect(groups('etcd-restore-operator')).toEqual(['restores']);
    expect(groups('etcd-operator')).toEqual(['clusters', 'backups', 'restores']);
    expect(groups()).toEqual(groups('etcd-operator'));
  });

  it('have the operator’s store credentials and the allowed URLs', () => {
    expect(settingsFrom([], inPod).store).toEqual({ secret: undefined, serviceAccountName: undefined, urls: [] });
    const flags = ['--store-secret=s', '--store-service-account=a', '--store-urls=s3://b/{{ .Namespace }}/,gs://c'];
    expect(settingsFrom(flags, inPod).store).toEqual({
      ...{ secret: 's', serviceAccountName: 'a', urls: ['s3://b/{{ .Namespace }}/', 'gs://c'] },
    });
  });

  it('accept the command "run", which is the default', () => {
    expect(settingsFrom(['run', '--workers=3'], inPod)).toMatchObject({ workers: 3 });
  });

  it('refuse any other command', () => {
    const ended = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('ended');
    });
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(() => settingsFrom(['labb'], inPod)).toThrow('ended');
    expect(stderr.mock.calls.join()).toContain("'labb' is invalid for argument 'command'");
    ended.mockRestore();
    stderr.mockRestore();
  });

  it.each(['mirror.example/etcd:v3', `mirror.example/etcd@sha256:${'0'.repeat(64)}`])(
    'refuse a tag or digest in --etcd-repository: %s',
    (repository) => {
      const ended = vi.spyOn(process, 'exit').mockImplementation(() => {
        throw new Error('ended');
      });
      const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      expect(() => settingsFrom(['--etcd-repository', repository], inPod)).toThrow('ended');
      expect(stderr.mock.calls.join()).toContain('must be an image name without tag or digest');
      ended.mockRestore();
      stderr.mockRestore();
    },
  );
});
