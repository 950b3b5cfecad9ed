import { describe, expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { memberPodManifest, templateHash } from '../../../core/manifests/pod.ts';
import {
  clientMigration,
  nextTlsMode,
  type TlsMode,
  type TlsModes,
  tlsModeForScheme,
  tlsModesIn,
  wantedTlsModes,
  withTlsModes,
} from '../../../core/manifests/tls-mode.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../../kube/object.ts';
import { nextTlsModes, tlsModesWithoutCertificates, trustedWithPassword } from './mode.ts';

const blueprintOf = (TLS?: object): Blueprint => {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = coreos.read({ metadata, spec: { size: 3, version: '3.5.35', ...(TLS === undefined ? {} : { TLS }) } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
};
const name = 'db-0' as MemberName;
const commandOf = (blueprint: Blueprint): readonly string[] => {
  const pod = memberPodManifest(blueprint, { name, version: '3.5.35', join: { as: 'restarting' } });
  return (pod.spec['containers'] as readonly { command: readonly string[] }[])[0]?.command ?? [];
};
const listenFlags = (blueprint: Blueprint): readonly string[] =>
  commandOf(blueprint).filter((word) => word.startsWith('--listen-') || word.startsWith('--initial-advertise-peer'));

const [plain, encrypted] = [blueprintOf(), blueprintOf({ managed: {} })];
const ends: readonly TlsMode[] = ['plain', 'dual-mode', 'encrypted'];
const all: readonly TlsModes[] = ends.flatMap((peer) => ends.map((client) => ({ peer, client })));

describe('a change of the TLS mode', () => {
  it('goes through dual-mode', () => {
    expect(nextTlsMode('encrypted', ['plain', 'plain', 'plain'])).toBe('dual-mode');
    expect(nextTlsMode('encrypted', ['dual-mode', 'dual-mode', 'plain'])).toBe('dual-mode');
    expect(nextTlsMode('encrypted', ['dual-mode', 'dual-mode', 'encrypted'])).toBe('encrypted');
    expect(nextTlsMode('plain', ['encrypted', 'dual-mode'])).toBe('dual-mode');
    expect(nextTlsMode('plain', ['dual-mode', 'plain'])).toBe('plain');
    expect(nextTlsMode('dual-mode', ['plain', 'encrypted'])).toBe('dual-mode');
    expect(nextTlsMode('encrypted', [])).toBe('encrypted');
  });

  it('never has a plaintext and a TLS-only member at the same time', () => {
    for (const wanted of ['plain', 'encrypted'] as const) {
      let members: readonly TlsMode[] = wanted === 'plain' ? ['encrypted', 'encrypted'] : ['plain', 'plain'];
      for (let step = 0; step < 4; step += 1) {
        const next = nextTlsMode(wanted, members);
        const one = members.findIndex((member) => member !== next);
        members = members.map((member, index) => (index === one ? next : member));
        expect(members.includes('plain') && members.includes('encrypted')).toBe(false);
      }
      expect(members).toEqual([wanted, wanted]);
    }
  });

  it('has plaintext peer URLs in dual-mode, and serves clients with http and https on one port', () => {
    const both = withTlsModes(encrypted, { peer: 'dual-mode', client: 'dual-mode' });
    expect(listenFlags(both)).toEqual([
      '--initial-advertise-peer-urls=http://db-0.db.default.svc:2380',
      '--listen-peer-urls=http://0.0.0.0:2380',
      '--listen-client-urls=http://0.0.0.0:2379,https://0.0.0.0:2379',
    ]);
    expect(commandOf(both)).toContain('--peer-cert-file=/etc/etcdtls/member/peer-tls/peer.crt');
    expect(both.intent.peerURLOf(name)).toBe('http://db-0.db.default.svc:2380');
  });

  it.each(all)('is parsed from the command of a pod with peer mode $peer and client mode $client', (tlsModes) => {
    for (const asked of [plain, encrypted])
      expect(tlsModesIn(commandOf(withTlsModes(asked, tlsModes)))).toEqual(tlsModes);
  });

  it('does not change pods if the mode is that of the spec', () => {
    for (const blueprint of [plain, encrypted, blueprintOf({ static: { member: { peerSecret: 'p' } } })]) {
      expect(templateHash(withTlsModes(blueprint, wantedTlsModes(blueprint)))).toBe(templateHash(blueprint));
      expect(commandOf(withTlsModes(blueprint, wantedTlsModes(blueprint)))).toEqual(commandOf(blueprint));
    }
  });

  it('stays dual-mode for clients with acceptPlainClients', () => {
    expect(wantedTlsModes(blueprintOf({ managed: {}, acceptPlainClients: true }))).toEqual({
      peer: 'encrypted',
      client: 'dual-mode',
    });
  });

  it.each<[TlsMode, readonly TlsMode[], ReturnType<typeof clientMigration>]>([
    ['encrypted', ['plain', 'plain'], 'to-encryption'],
    ['encrypted', ['dual-mode', 'encrypted'], 'to-encryption'],
    ['encrypted', ['encrypted', 'encrypted'], undefined],
    ['plain', ['encrypted', 'dual-mode'], 'to-plain'],
    ['plain', ['plain', 'plain'], undefined],
    ['dual-mode', ['plain', 'plain'], 'either-way'],
    ['dual-mode', ['dual-mode', 'dual-mode'], 'either-way'],
    ['encrypted', [], undefined],
  ])('has a client migration: to %s from %j is %s', (wanted, running, migration) => {
    expect(clientMigration(wanted, running)).toBe(migration);
  });

  it('keeps the peer scheme of a restarted member', () => {
    expect(tlsModeForScheme('http', 'encrypted')).toBe('dual-mode');
    expect(tlsModeForScheme('https', 'plain')).toBe('encrypted');
    expect(tlsModeForScheme('https', 'dual-mode')).toBe('encrypted');
    expect([
      tlsModeForScheme('http', 'plain'),
      tlsModeForScheme('http', 'dual-mode'),
      tlsModeForScheme(undefined, 'encrypted'),
    ]).toEqual(['plain', 'dual-mode', 'encrypted']);
  });
});

describe('the next TLS modes', () => {
  const asked = (TLS: object | undefined, clusterId: string | undefined = 'c1') => {
    const metadata = { name: 'db', namespace: 'default', uid: 'u' };
    const read = coreos.read({ metadata, spec: { size: 3, ...(TLS && { TLS }) }, status: clusterId && { clusterId } });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    return read.value;
  };
  const managed = { managed: {} };
  const podWithTlsModes = (tlsModes: TlsModes, made: Blueprint = encrypted): Stored<Pod> => {
    const body = { name, version: '3.5.35', join: { as: 'joining', among: [] } } as const;
    return memberPodManifest(withTlsModes(made, tlsModes), body) as unknown as Stored<Pod>;
  };
  const claimNoting = (scheme: string, claim = 'db-9'): Stored<PersistentVolumeClaim> =>
    ({
      metadata: { name: claim, annotations: { 'etcd.database.coreos.com/peer-scheme': scheme } },
    }) as unknown as Stored<PersistentVolumeClaim>;
  const both = (each: TlsMode): TlsModes => ({ peer: each, client: each });

  it('are those of the spec before the cluster has formed or has pods', () => {
    expect(nextTlsModes(asked(managed, ''), { pods: [podWithTlsModes(both('plain'))], claims: [] })).toEqual(
      both('encrypted'),
    );
    expect(nextTlsModes(asked(managed), { pods: [], claims: [] })).toEqual(both('encrypted'));
  });

  it('are dual-mode while a pod, or a PVC without a pod, has the other mode', () => {
    const pods = [podWithTlsModes(both('dual-mode')), podWithTlsModes(both('plain'))];
    expect(nextTlsModes(asked(managed), { pods, claims: [] })).toEqual(both('dual-mode'));
    const claims = [claimNoting('http')];
    expect(nextTlsModes(asked(managed), { pods: pods.slice(0, 1), claims })).toEqual({
      peer: 'dual-mode',
      client: 'encrypted',
    });
    expect(nextTlsModes(asked(undefined), { pods: [], claims: [claimNoting('https')] }).peer).toBe('dual-mode');
  });

  it('are encrypted once all pods are dual-mode, also with a numbered PVC name', () => {
    const pods = [podWithTlsModes(both('dual-mode'))];
    const claims = [claimNoting('http', 'db-0'), claimNoting('http', 'db-0-v2')];
    expect(nextTlsModes(asked(managed), { pods, claims })).toEqual(both('encrypted'));
  });

  it('are plaintext as long as there are no certificates', () => {
    const without = (...current: readonly TlsModes[]): TlsModes =>
      tlsModesWithoutCertificates(
        both('dual-mode'),
        { pods: current.map((each) => podWithTlsModes(each)), claims: [] },
        encrypted,
      );
    expect(without(both('plain'), both('plain'))).toEqual(both('plain'));
    expect(without(both('plain'), both('dual-mode'))).toEqual(both('dual-mode'));
    expect(without()).toEqual(both('dual-mode'));
    expect(without({ peer: 'encrypted', client: 'plain' })).toEqual({ peer: 'dual-mode', client: 'plain' });
  });

  it('are plaintext at once if the certificates are not in a managed Secret', () => {
    const yours = blueprintOf({ static: { member: { peerSecret: 'yours' } } });
    const current = { peer: 'encrypted', client: 'plain' } as const;
    expect(nextTlsModes(asked(undefined), { pods: [podWithTlsModes(current, yours)], claims: [] }).peer).toBe('plain');
    expect(nextTlsModes(asked(undefined), { pods: [podWithTlsModes(current)], claims: [] }).peer).toBe('dual-mode');
  });
});

describe('the etcd password of the operator', () => {
  const podOf = (client: TlsMode): Stored<Pod> =>
    memberPodManifest(withTlsModes(encrypted, { peer: 'encrypted', client }), {
      ...{ name, version: '3.5.35', join: { as: 'restarting' } },
    }) as unknown as Stored<Pod>;
  const isSentTo = (blueprint: Blueprint, ...clients: readonly TlsMode[]): readonly boolean[] => {
    const pods = clients.map(podOf);
    const trusted = trustedWithPassword(pods, blueprint);
    return pods.map((pod) => trusted.has(pod));
  };

  it('is not sent to a plaintext pod beside TLS-only members', () => {
    expect(isSentTo(encrypted, 'encrypted', 'encrypted', 'plain')).toEqual([true, true, false]);
  });

  it('is sent to every member during a change of the TLS mode', () => {
    expect(isSentTo(encrypted, 'plain', 'plain')).toEqual([true, true]);
    expect(isSentTo(encrypted, 'plain', 'dual-mode')).toEqual([true, true]);
    expect(isSentTo(encrypted, 'dual-mode', 'encrypted')).toEqual([true, true]);
    expect(isSentTo(plain, 'encrypted', 'plain')).toEqual([true, true]);
  });
});
