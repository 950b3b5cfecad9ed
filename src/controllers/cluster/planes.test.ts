import { describe, expect, it } from 'vitest';
import {
  clientMove,
  type Encryption,
  listeningAs,
  nextEncryption,
  type Planes,
  planesIn,
  speaking,
  wantedPlanes,
} from '../../core/desired/encryption.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { memberPod, templateMark } from '../../core/desired/pod.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
import { nextPlanes, planesWithoutCertificates, trustedWithPassword } from './planes.ts';

const blueprintOf = (TLS?: object): Blueprint => {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = coreos.read({ metadata, spec: { size: 3, version: '3.5.35', ...(TLS === undefined ? {} : { TLS }) } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
};
const name = 'db-0' as CarrierName;
const commandOf = (blueprint: Blueprint): readonly string[] => {
  const pod = memberPod(blueprint, { name, version: '3.5.35', join: { as: 'returner' } });
  return (pod.spec['containers'] as readonly { command: readonly string[] }[])[0]?.command ?? [];
};
const listens = (blueprint: Blueprint): readonly string[] =>
  commandOf(blueprint).filter((word) => word.startsWith('--listen-') || word.startsWith('--initial-advertise-peer'));

const [plain, encrypted] = [blueprintOf(), blueprintOf({ managed: {} })];
const ends: readonly Encryption[] = ['plain', 'between', 'encrypted'];
const all: readonly Planes[] = ends.flatMap((peer) => ends.map((client) => ({ peer, client })));

describe('encryption that is switched on or off', () => {
  it('goes from one end to the other only by way of both', () => {
    expect(nextEncryption('encrypted', ['plain', 'plain', 'plain'])).toBe('between');
    expect(nextEncryption('encrypted', ['between', 'between', 'plain'])).toBe('between');
    expect(nextEncryption('encrypted', ['between', 'between', 'encrypted'])).toBe('encrypted');
    expect(nextEncryption('plain', ['encrypted', 'between'])).toBe('between');
    expect(nextEncryption('plain', ['between', 'plain'])).toBe('plain');
    expect(nextEncryption('between', ['plain', 'encrypted'])).toBe('between');
    expect(nextEncryption('encrypted', [])).toBe('encrypted');
  });

  it('never has two members beside each other of whom neither has certificates for what the other speaks', () => {
    for (const wanted of ['plain', 'encrypted'] as const) {
      let members: readonly Encryption[] = wanted === 'plain' ? ['encrypted', 'encrypted'] : ['plain', 'plain'];
      for (let step = 0; step < 4; step += 1) {
        const next = nextEncryption(wanted, members);
        const one = members.findIndex((member) => member !== next);
        members = members.map((member, index) => (index === one ? next : member));
        expect(members.includes('plain') && members.includes('encrypted')).toBe(false);
      }
      expect(members).toEqual([wanted, wanted]);
    }
  });

  it('listens to peers without it while it is between, and serves clients either way on one port', () => {
    const both = speaking(encrypted, { peer: 'between', client: 'between' });
    expect(listens(both)).toEqual([
      '--initial-advertise-peer-urls=http://db-0.db.default.svc:2380',
      '--listen-peer-urls=http://0.0.0.0:2380',
      '--listen-client-urls=http://0.0.0.0:2379,https://0.0.0.0:2379',
    ]);
    expect(commandOf(both)).toContain('--peer-cert-file=/etc/etcdtls/member/peer-tls/peer.crt');
    expect(both.intent.peerURLOf(name)).toBe('http://db-0.db.default.svc:2380');
  });

  it.each(all)('is read back from the command of who speaks $peer to peers and $client to clients', (planes) => {
    for (const asked of [plain, encrypted]) expect(planesIn(commandOf(speaking(asked, planes)))).toEqual(planes);
  });

  it('changes nothing about pods where it is as the spec says', () => {
    for (const blueprint of [plain, encrypted, blueprintOf({ static: { member: { peerSecret: 'p' } } })]) {
      expect(templateMark(speaking(blueprint, wantedPlanes(blueprint)))).toBe(templateMark(blueprint));
      expect(commandOf(speaking(blueprint, wantedPlanes(blueprint)))).toEqual(commandOf(blueprint));
    }
  });

  it('stays between for clients for as long as the spec says', () => {
    expect(wantedPlanes(blueprintOf({ managed: {}, acceptPlainClients: true }))).toEqual({
      peer: 'encrypted',
      client: 'between',
    });
  });

  it.each<[Encryption, readonly Encryption[], ReturnType<typeof clientMove>]>([
    ['encrypted', ['plain', 'plain'], 'to-encryption'],
    ['encrypted', ['between', 'encrypted'], 'to-encryption'],
    ['encrypted', ['encrypted', 'encrypted'], undefined],
    ['plain', ['encrypted', 'between'], 'to-plain'],
    ['plain', ['plain', 'plain'], undefined],
    ['between', ['plain', 'plain'], 'either-way'],
    ['between', ['between', 'between'], 'either-way'],
    ['encrypted', [], undefined],
  ])('is told to clients: to %s from %j is %s', (wanted, running, told) => {
    expect(clientMove(wanted, running)).toBe(told);
  });

  it('lets whoever returns listen where the others look for it', () => {
    expect(listeningAs('http', 'encrypted')).toBe('between');
    expect(listeningAs('https', 'plain')).toBe('encrypted');
    expect(listeningAs('https', 'between')).toBe('encrypted');
    expect([listeningAs('http', 'plain'), listeningAs('http', 'between'), listeningAs(undefined, 'encrypted')]).toEqual(
      ['plain', 'between', 'encrypted'],
    );
  });
});

describe('how members are to speak next', () => {
  const asked = (TLS: object | undefined, clusterId: string | undefined = 'c1') => {
    const metadata = { name: 'db', namespace: 'default', uid: 'u' };
    const read = coreos.read({ metadata, spec: { size: 3, ...(TLS && { TLS }) }, status: clusterId && { clusterId } });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    return read.value;
  };
  const managed = { managed: {} };
  const podSpeaking = (planes: Planes, made: Blueprint = encrypted): Stored<Pod> => {
    const body = { name, version: '3.5.35', join: { as: 'newcomer', among: [] } } as const;
    return memberPod(speaking(made, planes), body) as unknown as Stored<Pod>;
  };
  const claimNoting = (scheme: string, claim = 'db-9'): Stored<PersistentVolumeClaim> =>
    ({
      metadata: { name: claim, annotations: { 'etcd.database.coreos.com/peer-scheme': scheme } },
    }) as unknown as Stored<PersistentVolumeClaim>;
  const both = (each: Encryption): Planes => ({ peer: each, client: each });

  it('is what the spec says where nobody speaks yet', () => {
    expect(nextPlanes(asked(managed, ''), { pods: [podSpeaking(both('plain'))], claims: [] })).toEqual(
      both('encrypted'),
    );
    expect(nextPlanes(asked(managed), { pods: [], claims: [] })).toEqual(both('encrypted'));
  });

  it('is between while somebody is at the other end, a pod or a disk without one', () => {
    const pods = [podSpeaking(both('between')), podSpeaking(both('plain'))];
    expect(nextPlanes(asked(managed), { pods, claims: [] })).toEqual(both('between'));
    const claims = [claimNoting('http')];
    expect(nextPlanes(asked(managed), { pods: pods.slice(0, 1), claims })).toEqual({
      peer: 'between',
      client: 'encrypted',
    });
    expect(nextPlanes(asked(undefined), { pods: [], claims: [claimNoting('https')] }).peer).toBe('between');
  });

  it('is encrypted once all pods are between, where the PVC of a member that came back has a name with a number', () => {
    const pods = [podSpeaking(both('between'))];
    const claims = [claimNoting('http', 'db-0'), claimNoting('http', 'db-0-v2')];
    expect(nextPlanes(asked(managed), { pods, claims })).toEqual(both('encrypted'));
  });

  it('is without encryption for as long as there are no certificates to begin with', () => {
    const without = (...spoken: readonly Planes[]): Planes =>
      planesWithoutCertificates(
        both('between'),
        { pods: spoken.map((each) => podSpeaking(each)), claims: [] },
        encrypted,
      );
    expect(without(both('plain'), both('plain'))).toEqual(both('plain'));
    expect(without(both('plain'), both('between'))).toEqual(both('between'));
    expect(without()).toEqual(both('between'));
    expect(without({ peer: 'encrypted', client: 'plain' })).toEqual({ peer: 'between', client: 'plain' });
  });

  it('needs certificates that outlive the spec to be switched off in two rounds', () => {
    const yours = blueprintOf({ static: { member: { peerSecret: 'yours' } } });
    const spoken = { peer: 'encrypted', client: 'plain' } as const;
    expect(nextPlanes(asked(undefined), { pods: [podSpeaking(spoken, yours)], claims: [] }).peer).toBe('plain');
    expect(nextPlanes(asked(undefined), { pods: [podSpeaking(spoken)], claims: [] }).peer).toBe('between');
  });
});

describe('the password of the operator', () => {
  const podOf = (client: Encryption): Stored<Pod> =>
    memberPod(speaking(encrypted, { peer: 'encrypted', client }), {
      ...{ name, version: '3.5.35', join: { as: 'returner' } },
    }) as unknown as Stored<Pod>;
  const shownTo = (blueprint: Blueprint, ...clients: readonly Encryption[]): readonly boolean[] => {
    const pods = clients.map(podOf);
    const trusted = trustedWithPassword(pods, blueprint);
    return pods.map((pod) => trusted.has(pod));
  };

  it('is not sent in plain text to a pod beside members that serve clients with encryption only', () => {
    expect(shownTo(encrypted, 'encrypted', 'encrypted', 'plain')).toEqual([true, true, false]);
  });

  it('is sent to every member while encryption is switched on or off', () => {
    expect(shownTo(encrypted, 'plain', 'plain')).toEqual([true, true]);
    expect(shownTo(encrypted, 'plain', 'between')).toEqual([true, true]);
    expect(shownTo(encrypted, 'between', 'encrypted')).toEqual([true, true]);
    expect(shownTo(plain, 'encrypted', 'plain')).toEqual([true, true]);
  });
});
