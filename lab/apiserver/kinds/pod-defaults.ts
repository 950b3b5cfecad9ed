import { at, type Fields, fieldsIn, fieldsOf, fill, isFields, textOf } from '../json.ts';

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const fileMode = 0o644;

/** Sets the defaults of a pod spec in place. */
export function defaultPodSpec(spec: Fields): void {
  fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  for (const container of [...fieldsIn(spec['initContainers']), ...fieldsIn(spec['containers'])])
    defaultContainer(container);
  for (const volume of fieldsIn(spec['volumes'])) defaultVolume(volume);
}

function defaultContainer(container: Fields): void {
  const image = textOf(container['image']);
  const isMoving = !/[:@][^/]*$/.test(image) || image.endsWith(':latest');
  fill(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isMoving ? 'Always' : 'IfNotPresent',
  });
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(container[name]);
  for (const variable of fieldsIn(container['env'])) {
    const reference = at(variable, 'valueFrom', 'fieldRef');
    if (isFields(reference)) fill(reference, { apiVersion: 'v1' });
  }
  const { limits, requests } = fieldsOf(container['resources']);
  if (isFields(limits))
    Object.assign(fieldsOf(container['resources']), { requests: { ...limits, ...fieldsOf(requests) } });
}

function defaultProbe(probe: unknown): void {
  if (!isFields(probe)) return;
  fill(probe, probeDefaults);
  const { httpGet } = probe;
  if (isFields(httpGet)) fill(httpGet, { path: '/', scheme: 'HTTP' });
}

const filled = ['secret', 'configMap', 'projected', 'downwardAPI'];

function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).length === 1) volume['emptyDir'] = {};
  for (const source of filled) if (isFields(volume[source])) fill(volume[source], { defaultMode: fileMode });
  const items = fieldsIn(at(volume, 'downwardAPI', 'items'));
  for (const item of items) if (isFields(item['fieldRef'])) fill(item['fieldRef'], { apiVersion: 'v1' });
}
