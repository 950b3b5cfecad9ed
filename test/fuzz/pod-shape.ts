import { isDeepStrictEqual } from 'node:util';
import { repositoryOf, sharedRestrictions } from '../../src/apis/common/restrictions.ts';
import { nonRootSecurityContext, restrictedSecurityContext } from '../../src/core/manifests/security-context.ts';
import { ownSecretsOf } from '../../src/core/pki/names.ts';
import { canary } from './canaries.ts';
import { type LabJson, namespace, operatorNamespace } from './lab-api.ts';

/** The promises of docs/reference/security.md about pods, and what a user may set in them. */

interface Context {
  /** The object that the pod was made for. */
  readonly object: LabJson;
  readonly isShared: boolean;
}

/** The fields of a pod that the operator sets, users set through a spec, or the API server sets by default. */
const podFields = new Set([
  ...[
    'imagePullSecrets',
    'priorityClassName',
    'serviceAccountName',
    'topologySpreadConstraints',
    'hostname',
    'subdomain',
  ],
  ...[
    'restartPolicy',
    'automountServiceAccountToken',
    'enableServiceLinks',
    'terminationGracePeriodSeconds',
    'affinity',
  ],
  ...[
    'securityContext',
    'nodeSelector',
    'tolerations',
    'initContainers',
    'containers',
    'volumes',
    'activeDeadlineSeconds',
  ],
  ...['hostAliases', 'dnsPolicy', 'schedulerName', 'preemptionPolicy', 'priority', 'serviceAccount'],
]);

const containerFields = new Set([
  ...['name', 'image', 'command', 'env', 'ports', 'resources', 'securityContext', 'volumeMounts', 'imagePullPolicy'],
  ...['startupProbe', 'livenessProbe', 'readinessProbe', 'terminationMessagePolicy', 'terminationMessagePath'],
]);

const volumeKinds = new Set(['name', 'emptyDir', 'persistentVolumeClaim', 'secret']);
const programs = new Set([
  ...['etcd', 'etcdutl', 'etcdctl', 'etcd-operator'].map((name) => `/usr/local/bin/${name}`),
  '/bin/sh', // check-dns
]);

/** The promises that a pod breaks. */
export function shapeProblems(pod: LabJson, context: Context): readonly string[] {
  const spec = fieldsOf(pod['spec']);
  const containers = [...listOf(spec['initContainers']), ...listOf(spec['containers'])];
  const broken = [
    ...Object.keys(spec)
      .filter((field) => !podFields.has(field))
      .map((field) => `field ${field}`),
    ...(spec['automountServiceAccountToken'] === false ? [] : ['a token of the API server']),
    ...containers.flatMap((container) => ofContainer(container, context)),
    ...listOf(spec['volumes']).flatMap((volume) => ofVolume(volume, pod, context)),
    ...ofSecurity(spec, context),
    ...ofPullSecrets(spec, context),
    ...ofOwner(pod, context),
    ...(JSON.stringify(pod).includes(canary) ? ['the value of a Secret'] : []),
  ];
  return broken.map((what) => `pod ${String(fieldsOf(pod['metadata'])['name'])} has ${what}`);
}

function ofContainer(container: LabJson, { isShared, object }: Context): readonly string[] {
  const [program = '', ...args] = listOfTexts(container['command']);
  const sources = listOf(container['env']).flatMap(({ valueFrom }) => Object.keys(fieldsOf(valueFrom)));
  const allowed: readonly string[] = sharedRestrictions.valueFrom;
  return [
    ...Object.keys(container)
      .filter((field) => !containerFields.has(field))
      .map((field) => `container field ${field}`),
    ...(isDeepStrictEqual(container['securityContext'], restrictedSecurityContext) ? [] : ['privileges']),
    ...(programs.has(program) ? [] : [`the program ${program}`]),
    ...(program === '/usr/local/bin/etcd' ? args.filter((arg) => !/^--[a-z-]+=[\w:/.,$()-]+$/.test(arg)) : []),
    ...listOf(container['ports'])
      .filter((port) => 'hostPort' in port)
      .map(() => 'a port of the node'),
    ...(isShared
      ? sources.filter((source) => !allowed.includes(source)).map((source) => `variables of ${source}`)
      : []),
    ...secretsOfVariables(container)
      .filter((name) => !isNamed(name, object))
      .map((name) => `Secret ${name}`),
    ...(isShared && !isAllowedImage(String(container['image'])) ? [`image ${String(container['image'])}`] : []),
  ];
}

const isAllowedImage = (image: string): boolean =>
  [...sharedRestrictions.repositories, 'etcd-operator'].some((name) => repositoryOf(image) === repositoryOf(name));

const secretsOfVariables = ({ env }: LabJson): readonly string[] =>
  listOf(env).flatMap(({ valueFrom }) => {
    const { name } = fieldsOf(fieldsOf(valueFrom)['secretKeyRef']);
    return name === undefined ? [] : [pathText(name)];
  });

function ofVolume(volume: LabJson, pod: LabJson, { object }: Context): readonly string[] {
  const metadata = fieldsOf(pod['metadata']);
  const others = Object.keys(volume).filter((kind) => !volumeKinds.has(kind));
  const { secretName } = fieldsOf(volume['secret']);
  const { claimName } = fieldsOf(volume['persistentVolumeClaim']);
  const isOperators = metadata['namespace'] === operatorNamespace && secretName === 'operator-store';
  const isOwnSecret = secretName === undefined || isOperators || isNamed(pathText(secretName), object);
  const isOwnClaim = claimName === undefined || claimName === metadata['name'] || isNamed(pathText(claimName), object);
  return [
    ...others.map((kind) => `a volume of kind ${kind}`),
    ...(isOwnSecret ? [] : [`Secret ${pathText(secretName)}`]),
    ...(isOwnClaim ? [] : [`PersistentVolumeClaim ${pathText(claimName)}`]),
  ];
}

/** Fields that name a Secret or a PVC. A URL names a PVC by its host. */
const naming = /secret|credentials|claimName/i;

/** True if the spec names a Secret or PVC, or the operator keeps the Secret for a cluster that the object is or names. */
function isNamed(name: string, object: LabJson): boolean {
  const texts = textsIn({ spec: object['spec'] });
  const clusters = [String(fieldsOf(object['metadata'])['name']), ...texts.map(({ text }) => text)];
  if (clusters.some((cluster) => Object.values(ownSecretsOf(cluster)).includes(name))) return true;
  return texts.some(({ path, text }) => (naming.test(path) && text === name) || text.startsWith(`file://${name}/`));
}

interface Text {
  readonly path: string;
  readonly text: string;
}

const textsIn = (value: unknown, path = ''): readonly Text[] => {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, `${path}.${key}`));
};

/** Agents are never run as another user. Members are if the spec says so; a shared operator allows no root. */
function ofSecurity({ securityContext, containers }: LabJson, { object, isShared }: Context): readonly string[] {
  const context = fieldsOf(securityContext);
  if (isDeepStrictEqual(context, nonRootSecurityContext)) return [];
  const isMember = listOf(containers).some(({ name }) => name === 'etcd');
  const wanted = securityIn(object);
  const isRoot = context['runAsUser'] === 0 || (context['runAsUser'] === undefined && context['runAsNonRoot'] !== true);
  return [
    ...(isMember ? [] : ['another user than 65532']),
    ...Object.keys(context)
      .filter((field) => !isAskedFor(context[field], wanted[field]))
      .map((field) => `a securityContext.${field} that the spec does not ask for`),
    ...(isShared && isRoot ? ['the user root'] : []),
  ];
}

/** The API server drops unknown fields of objects. */
const isAskedFor = (value: unknown, wanted: unknown): boolean =>
  typeof value === 'object' ? wanted !== undefined : value === wanted;

/** The securityContext in the spec of a cluster, or of the cluster that a restore makes. */
function securityIn(object: LabJson): LabJson {
  const spec = fieldsOf(object['spec']);
  const { pod, podTemplate } = fieldsOf(fieldsOf(spec['clusterTemplate'])['spec'] ?? spec);
  return fieldsOf(fieldsOf(pod ?? podTemplate)['securityContext']);
}

const ofPullSecrets = (
  { imagePullSecrets, serviceAccountName }: LabJson,
  { object, isShared }: Context,
): readonly string[] => [
  ...listOf(imagePullSecrets)
    .filter(({ name }) => !isNamed(String(name), object))
    .map(({ name }) => `Secret ${String(name)}`),
  ...(isShared && ![undefined, 'default'].includes(serviceAccountName as string)
    ? [`ServiceAccount ${String(serviceAccountName)}`]
    : []),
];

/** A pod is in the namespace of its object and belongs to it, or is an agent in the namespace of the operator. */
function ofOwner(pod: LabJson, { object }: Context): readonly string[] {
  const { namespace: place, ownerReferences } = fieldsOf(pod['metadata']);
  const { uid } = fieldsOf(object['metadata']);
  if (place === operatorNamespace) return listOf(ownerReferences).map(() => 'an owner in another namespace');
  const isOwned = place === namespace && listOf(ownerReferences).some((owner) => owner['uid'] === uid);
  return isOwned ? [] : ['another owner'];
}

const fieldsOf = (value: unknown): LabJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LabJson) : {};
const pathText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const listOf = (value: unknown): readonly LabJson[] => (Array.isArray(value) ? value.map(fieldsOf) : []);
const listOfTexts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
