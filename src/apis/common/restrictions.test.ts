import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../coreos-v1beta2/backup.ts';
import { coreos } from '../coreos-v1beta2/dialect.ts';
import { improbableBackups } from '../improbable-v1alpha1/backup/backup.ts';
import { improbableRestores } from '../improbable-v1alpha1/backup/restore.ts';
import { improbable } from '../improbable-v1alpha1/dialect.ts';
import {
  type Restrictions,
  repositoryOf,
  sharedRestrictions,
  type UidRange,
  withAccountRestrictions,
  withRestrictions,
} from './restrictions.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'u' };

/** One cluster in both APIs. */
const readers = {
  'spec.pod': (pod: object, more: object) => ({ metadata, spec: { size: 1, pod, ...more } }),
  'spec.podTemplate': (podTemplate: object, more: object) => ({
    metadata,
    spec: { replicas: 1, podTemplate, ...more },
  }),
} as const;
const dialects = { 'spec.pod': coreos, 'spec.podTemplate': improbable } as const;

describe.each(['spec.pod', 'spec.podTemplate'] as const)('with the restrictions of a shared operator, %s', (field) => {
  const problems = (pod: object, more: object = {}, restrictions: Restrictions = sharedRestrictions) => {
    const read = withRestrictions(restrictions, dialects[field]).read(readers[field](pod, more));
    return read.ok ? [] : read.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  const env = (valueFrom: object) => ({ etcdEnv: [{ name: 'X', valueFrom }] });

  it.each<[string, object, [path: string, flag: string, more?: object]]>([
    [
      'a variable from a Secret',
      env({ secretKeyRef: { name: 's', key: 'k' } }),
      ['.etcdEnv[X].valueFrom', '--allowed-value-from'],
    ],
    ['a variable from a file', env({ fileKeyRef: {} }), ['.etcdEnv[X].valueFrom', '--allowed-value-from']],
    ['another image', {}, ['spec.repository', '--allowed-repositories', { repository: 'evil.example/shell' }]],
    ['another ServiceAccount', { serviceAccountName: 'ci' }, ['.serviceAccountName', '--allowed-service-accounts']],
    ['runAsUser 0', { securityContext: { runAsUser: 0 } }, ['.securityContext.runAsUser', '--allowed-uids']],
    [
      'a security context without runAsUser',
      { securityContext: { fsGroup: 1 } },
      ['.securityContext.runAsUser', '--allowed-uids'],
    ],
  ])('is refused with %s, and the refusal names the field and the flag', (_, pod, [path, flag, more = {}]) => {
    const refusals = problems(pod, more);
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toContain(`${path.startsWith('.') ? field : ''}${path}: `);
    expect(refusals[0]).toContain(`is not allowed by the operator's flag ${flag}=`);
    expect(problems(pod, more, {})).toEqual([]);
  });

  it.each<[string, object, object]>([
    ['no pod settings', {}, {}],
    ['a variable from a pod field', env({ fieldRef: { fieldPath: 'metadata.name' } }), {}],
    ['a variable from a ConfigMap', env({ configMapKeyRef: { name: 'c', key: 'k' } }), {}],
    ['the default repository', {}, { repository: 'quay.io/coreos/etcd' }],
    ['the ServiceAccount default', { serviceAccountName: 'default' }, {}],
    ['another runAsUser', { securityContext: { runAsUser: 9000, runAsNonRoot: true, fsGroup: 9000 } }, {}],
    ['runAsNonRoot', { securityContext: { runAsNonRoot: true } }, {}],
  ])('is accepted with %s', (_, pod, more) => {
    expect(problems(pod, more)).toEqual([]);
  });

  it.each<[string, 'accepted' | 'refused', readonly UidRange[]]>([
    ['one user', 'refused', [{ from: 65_532, to: 65_532 }]],
    ['users from 1000 on', 'refused', [{ from: 1000, to: 2_147_483_647 }]],
    [
      'all users but one',
      'refused',
      [
        { from: 1, to: 999 },
        { from: 1001, to: 2_147_483_647 },
      ],
    ],
    ['all users but root', 'accepted', [{ from: 1, to: 2_147_483_647 }]],
    [
      'all users but root in two ranges',
      'accepted',
      [
        { from: 1000, to: 2_147_483_647 },
        { from: 1, to: 999 },
      ],
    ],
    ['all users', 'accepted', [{ from: 0, to: 4_294_967_295 }]],
  ])('with %s allowed, runAsNonRoot without runAsUser is %s', (_, result, uids) => {
    const refusals = problems({ securityContext: { runAsNonRoot: true } }, {}, { uids });
    const refusal = `${field}.securityContext.runAsUser: the user of the image (runAsUser is not set)`;
    expect(refusals).toEqual(result === 'accepted' ? [] : [expect.stringContaining(refusal)]);
  });

  it('is accepted with values that the flags allow', () => {
    const wider = { ...sharedRestrictions, repositories: ['mirror.example/team/'], uids: [{ from: 0, to: 0 }] };
    const context = { securityContext: { runAsUser: 0 } };
    expect(problems(context, { repository: 'mirror.example/team/etcd' }, wider)).toEqual([]);
    expect(problems(context, { repository: 'mirror.example/teams/etcd' }, wider)).toHaveLength(1);
  });
});

it('a check-dns image from a repository that is not allowed is refused', () => {
  const read = withRestrictions(sharedRestrictions, coreos).read(
    readers['spec.pod']({ busyboxImage: 'evil/shell:1' }, {}),
  );
  expect(read).toMatchObject({ ok: false, problems: [{ path: 'spec.pod.busyboxImage' }] });
  const usual = readers['spec.pod']({ busyboxImage: 'busybox:1.28.0-glibc', DNSTimeoutInSecond: 5 }, {});
  expect(withRestrictions(sharedRestrictions, coreos).read(usual).ok).toBe(true);
});

it.each([
  ['localhost:5000/etcd:v3.5.21', 'localhost:5000/etcd'],
  ['localhost/etcd', 'localhost/etcd'],
  ['quay.io/coreos/etcd@sha256:abc', 'quay.io/coreos/etcd'],
  ['Registry/etcd:v3.5.21', 'Registry/etcd'],
  ['busybox:1', 'docker.io/library/busybox'],
  ['docker.io/busybox', 'docker.io/library/busybox'],
  ['docker.io/library/busybox:1', 'docker.io/library/busybox'],
  ['team/etcd', 'docker.io/team/etcd'],
])('the image %s is compared as %s: with its registry, without tag and digest', (image, repository) => {
  expect(repositoryOf(image)).toBe(repository);
});

it.each<[allowed: string, images: { readonly in: readonly string[]; readonly out: readonly string[] }]>([
  [
    'docker.io/',
    { in: ['busybox', 'a/b', 'docker.io/a/b/c'], out: ['evil.example/shell', 'Registry/a', 'localhost/a'] },
  ],
  ['docker.io/library/', { in: ['busybox', 'docker.io/busybox'], out: ['library.example/a', 'a/b', 'docker.io/a/b'] }],
  ['a/', { in: ['a/b', 'docker.io/a/b'], out: ['ab/c', 'a.example/b', 'a'] }],
  ['a/b', { in: ['a/b', 'docker.io/a/b'], out: ['a/bc', 'a/b/c', 'a.example/a/b'] }],
  [
    'localhost:5000/x',
    { in: ['localhost:5000/x'], out: ['localhost:5000/xy', 'localhost:5000/x/y', 'localhost/x', 'x'] },
  ],
  ['localhost:5000/x/', { in: ['localhost:5000/x/y'], out: ['localhost:5000/xy', 'localhost:5000/x', 'x/y'] }],
  ['quay.io/core', { in: ['quay.io/core'], out: ['quay.io/coreos/etcd', 'quay.io/core/etcd'] }],
  ['/', { in: [], out: ['busybox', 'quay.io/coreos/etcd'] }],
])('the repository %s allows its own images and no others', (allowed, images) => {
  const { read } = withRestrictions({ repositories: [allowed] }, improbable);
  const isAllowed = (repository: string) => read(readers['spec.podTemplate']({}, { repository })).ok;
  expect(images.in.filter((each) => !isAllowed(each))).toEqual([]);
  expect(images.out.filter(isAllowed)).toEqual([]);
});

it('agents of backups and restores run under allowed accounts only', () => {
  const store = { credentialsSecret: 's', objectURLTemplate: 's3://b/k' };
  const backup = { metadata, spec: { serviceAccountName: 'ci', source: { clusterName: 'db' }, destination: store } };
  const restore = {
    metadata,
    spec: {
      serviceAccountName: 'ci',
      source: { objectURL: 's3://b/k' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 1 } },
    },
  };
  for (const [dialect, raw] of [
    [improbableBackups, backup],
    [improbableRestores, restore],
  ] as const) {
    expect(dialect.read(raw)).toMatchObject({ ok: true });
    expect(withAccountRestrictions(sharedRestrictions, dialect).read(raw)).toMatchObject({
      ok: false,
      problems: [{ path: 'spec.serviceAccountName', message: expect.stringContaining('--allowed-service-accounts') }],
    });
  }
  expect(withAccountRestrictions(undefined, coreosBackups)).toBe(coreosBackups);
});
