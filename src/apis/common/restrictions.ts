import type { Blueprint } from '../../core/manifests/manifest.ts';
import type { ClusterDialect } from './dialect.ts';
import type { Parsed, Problem } from './schema/parsed.ts';

/**
 * Limits what specs may set on pods, for operators shared by untrusted tenants. Without a list, all values are allowed.
 */
export interface Restrictions {
  /** Allowed `valueFrom` sources of variables, such as secretKeyRef. */
  readonly valueFrom?: readonly string[] | undefined;
  /**
   * Image names without tag, compared with their registry. A name that ends with a slash allows all images below it.
   */
  readonly repositories?: readonly string[] | undefined;
  readonly serviceAccounts?: readonly string[] | undefined;
  readonly uids?: readonly UidRange[] | undefined;
}

export interface UidRange {
  readonly from: number;
  readonly to: number;
}

/** The flags of the restrictions. A refusal names the flag, because only the operator's administrator can change it. */
export const restrictionFlags = {
  valueFrom: '--allowed-value-from',
  repositories: '--allowed-repositories',
  serviceAccounts: '--allowed-service-accounts',
  uids: '--allowed-uids',
} as const satisfies Readonly<Record<keyof Restrictions, string>>;

/** The largest user ID that Kubernetes accepts. */
const largestUid = 2_147_483_647;

/** The defaults for an operator that serves other namespaces than its own. */
export const sharedRestrictions = {
  valueFrom: ['fieldRef', 'resourceFieldRef', 'configMapKeyRef'],
  repositories: ['quay.io/coreos/etcd', 'gcr.io/etcd-development/etcd', 'registry.k8s.io/etcd', 'busybox'],
  serviceAccounts: ['default'],
  uids: [{ from: 1, to: largestUid }],
} as const satisfies Restrictions;

/** A dialect that never warns about clusters without TLS. */
export function withoutPlaintextWarning(dialect: ClusterDialect): ClusterDialect {
  const read: ClusterDialect['read'] = (raw) => {
    const parsed = dialect.read(raw);
    if (!parsed.ok) return parsed;
    const blueprint = { ...parsed.value.blueprint, acceptsPlaintext: true };
    return { ok: true, value: { ...parsed.value, blueprint } };
  };
  return { ...dialect, read };
}

/** A flag and its value. */
interface Allowed {
  readonly flag: keyof Restrictions;
  readonly list: readonly string[];
}

const refused = (path: string, what: string, { flag, list }: Allowed): Problem => ({
  path,
  message:
    `${what} is not allowed by the operator's flag ${restrictionFlags[flag]}="${list.join(',')}": ` +
    'choose another, or ask the administrator of the operator to allow it',
});

/** A dialect that refuses clusters with pods outside the restrictions. */
export function withRestrictions(restrictions: Restrictions | undefined, dialect: ClusterDialect): ClusterDialect {
  if (restrictions === undefined) return dialect;
  const read: ClusterDialect['read'] = (raw) => {
    const parsed = dialect.read(raw);
    if (!parsed.ok) return parsed;
    const problems = problemsOf(parsed.value.blueprint, restrictions, dialect.podField);
    return problems.length === 0 ? parsed : { ok: false, problems };
  };
  return { ...dialect, read };
}

const problemsOf = (blueprint: Blueprint, restrictions: Restrictions, field: string): readonly Problem[] => [
  ...ofVariables(blueprint, restrictions, field),
  ...ofImages(blueprint, restrictions, field),
  ...ofAccount(blueprint.template.passed['serviceAccountName'], restrictions, `${field}.serviceAccountName`),
  ...ofUser(blueprint, restrictions, field),
];

function ofVariables({ template }: Blueprint, { valueFrom: allowed }: Restrictions, field: string): readonly Problem[] {
  if (allowed === undefined) return [];
  return template.env.flatMap(({ name, valueFrom }) =>
    Object.keys(valueFrom ?? {})
      .filter((kind) => !allowed.includes(kind))
      .map((kind) =>
        refused(`${field}.etcdEnv[${String(name)}].valueFrom`, kind, { flag: 'valueFrom', list: allowed }),
      ),
  );
}

function ofImages({ intent, template }: Blueprint, { repositories }: Restrictions, field: string): readonly Problem[] {
  if (repositories === undefined) return [];
  const images = [
    ['spec.repository', intent.imageOf(intent.version)],
    ...(template.nameCheck === undefined ? [] : [[`${field}.busyboxImage`, template.nameCheck.image] as const]),
  ] as const;
  return images
    .filter(([, image]) => !repositories.some((allowed) => isIn(repositoryOf(image), allowed)))
    .map(([path, image]) => refused(path, repositoryOf(image), { flag: 'repositories', list: repositories }));
}

/** The full name of an image with its registry, without tag and digest. */
export const repositoryOf = (image: string): string => fullName(image.replace(/@.*$/, '').replace(/:[^/:]*$/, ''));

/** Adds the default registry and path, as container runtimes do: `busybox` is `docker.io/library/busybox`. */
function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  const [registry, path] = rest.length > 0 && isRegistry(first) ? [first, rest.join('/')] : [runtimeRegistry, name];
  const isOfficial = registry === runtimeRegistry && path !== '' && !path.includes('/');
  return `${registry}/${isOfficial ? 'library/' : ''}${path}`;
}

const runtimeRegistry = 'docker.io';

/** As container runtimes do: a first part with a dot, a port or an upper-case letter is a registry. */
const isRegistry = (first: string): boolean =>
  first === 'localhost' || /[.:]/.test(first) || first !== first.toLowerCase();

const isIn = (repository: string, allowed: string): boolean =>
  allowed.endsWith('/') ? repository.startsWith(fullName(allowed)) : repository === repositoryOf(allowed);

function ofAccount(account: unknown, { serviceAccounts }: Restrictions, path: string): readonly Problem[] {
  if (serviceAccounts === undefined || typeof account !== 'string' || serviceAccounts.includes(account)) return [];
  return [refused(path, `ServiceAccount ${account}`, { flag: 'serviceAccounts', list: serviceAccounts })];
}

/**
 * Without a security context the operator sets the user. Without runAsUser in it, the image's user counts: root for
 * etcd.
 */
function ofUser({ template }: Blueprint, { uids }: Restrictions, field: string): readonly Problem[] {
  const { securityContext: context } = template;
  if (uids === undefined || context === undefined || isUserAllowed(context, uids)) return [];
  const user = context['runAsUser'];
  const path = `${field}.securityContext.runAsUser`;
  const what = typeof user === 'number' ? `user ${user}` : 'the user of the image (runAsUser is not set)';
  return [refused(path, what, { flag: 'uids', list: uids.map(textOf) })];
}

/** With `runAsNonRoot` alone the image may use any user but root, so all of them must be allowed. */
function isUserAllowed(context: Readonly<Record<string, unknown>>, uids: readonly UidRange[]): boolean {
  const { runAsUser, runAsNonRoot } = context;
  if (typeof runAsUser !== 'number' && runAsNonRoot === true) return areAllButRootIn(uids);
  const user = typeof runAsUser === 'number' ? runAsUser : 0;
  return uids.some(({ from, to }) => user >= from && user <= to);
}

function areAllButRootIn(uids: readonly UidRange[]): boolean {
  const lowestFirst = uids.toSorted((a, b) => a.from - b.from);
  const firstMissing = lowestFirst.reduce((next, { from, to }) => (from <= next ? Math.max(next, to + 1) : next), 1);
  return firstMissing > largestUid;
}

const textOf = ({ from, to }: UidRange): string => (from === to ? String(from) : `${from}-${to}`);

interface WithAccount {
  readonly intent: { readonly serviceAccountName?: string | undefined };
}

/** The same for EtcdBackups and EtcdRestores, which name the ServiceAccount of their agents. */
export function withAccountRestrictions<
  V extends WithAccount,
  D extends { readonly read: (raw: unknown) => Parsed<V> },
>(restrictions: Restrictions | undefined, dialect: D): D {
  if (restrictions === undefined) return dialect;
  const read: D['read'] = (raw) => {
    const parsed = dialect.read(raw);
    if (!parsed.ok) return parsed;
    const problems = ofAccount(parsed.value.intent.serviceAccountName, restrictions, 'spec.serviceAccountName');
    return problems.length === 0 ? parsed : { ok: false, problems };
  };
  return { ...dialect, read };
}
