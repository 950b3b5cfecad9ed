import { expect } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const running = '--for=jsonpath={.status.phase}=Running --timeout=90s';
const succeeded = '--for=jsonpath={.status.phase}=Succeeded --timeout=90s';

const podOf = (version: string): string => `etcd-${version.replaceAll('.', '-')}`;

story('a pod of each etcd version starts and answers etcdctl', async ({ kubectl, step }) => {
  await step('a pod of each version runs', async () => {
    const run = (version: string) =>
      kubectl(`run ${podOf(version)} --image=quay.io/coreos/etcd:v${version} --env=ETCDCTL_API=3`);
    await Promise.all(etcdVersions.map(run));
    await kubectl(`wait pods --all ${running}`);
  });
  for (const version of etcdVersions) {
    await step(`etcd ${version} stores a key`, async () => {
      const etcdctl = (args: string) => kubectl(`exec ${podOf(version)} -- etcdctl ${args}`);
      await until('etcd answers', async () => (await etcdctl('put greeting hello')).includes('OK') || undefined);
      expect(await etcdctl('get greeting')).toBe('greeting\nhello\n');
      expect(await kubectl(`exec ${podOf(version)} -- etcd --version`)).toContain(`etcd Version: ${version}\n`);
      expect(await etcdctl('version')).toContain(version);
    });
  }
});

const podWithVolume = (command: string): string => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 64Mi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: writer }
spec:
  restartPolicy: Never
  containers:
    - name: writer
      image: busybox
      command: [sh, -c, "${command}"]
      volumeMounts: [{ name: data, mountPath: /data }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]
`;

story('a PVC keeps its data after its pod is deleted', async ({ kubectl, step }) => {
  await step('a pod writes a file', async () => {
    await kubectl('apply -f -', { input: podWithVolume('echo kept > /data/file') });
    await kubectl(`wait pod/writer ${succeeded}`);
    await kubectl('wait pvc/data --for=jsonpath={.status.phase}=Bound --timeout=30s');
  });
  await step('a new pod reads the file after the first is deleted', async () => {
    await kubectl('delete pod writer --now');
    await kubectl('apply -f -', { input: podWithVolume('cat /data/file') });
    await kubectl(`wait pod/writer ${succeeded}`);
    expect(await kubectl('logs writer')).toBe('kept\n');
  });
});

story('a deleted PVC is Terminating and keeps its data while a pod uses it', async ({ kubectl, step }) => {
  const volume = await step('a pod writes a file', async () => {
    await kubectl('apply -f -', { input: podWithVolume('echo kept > /data/file; exec sleep 3600') });
    await kubectl(`wait pod/writer ${running}`);
    return await kubectl('get pvc data -o jsonpath={.spec.volumeName}');
  });
  await step('the deleted PVC is Terminating', async () => {
    await kubectl('delete pvc data --wait=false');
    await kubectl('wait pvc/data --for=jsonpath={.metadata.deletionTimestamp} --timeout=10s');
    expect(await kubectl('get pvc')).toMatch(/^data +Terminating /m);
    expect(await kubectl('exec writer -- cat /data/file')).toBe('kept\n');
  });
  await step('another pod with the PVC is not scheduled', async () => {
    const other = podWithVolume('cat /data/file').split('---')[1]?.replace('name: writer', 'name: late') ?? '';
    await kubectl('apply -f -', { input: other });
    const message = `'{.status.conditions[?(@.type=="PodScheduled")].message}'`;
    await kubectl('wait pod/late --for=condition=PodScheduled=False --timeout=30s');
    expect(await kubectl(`get pod late -o jsonpath=${message}`)).toContain(
      'persistentvolumeclaim "data" is being deleted',
    );
    await kubectl('delete pod late');
  });
  await step('with its pod, the PVC and its volume are deleted', async () => {
    await kubectl('delete pod writer --now');
    await kubectl(`wait pvc/data pv/${volume} --for=delete --timeout=90s`);
  });
});

story('Service names and headless pod names resolve and connect across nodes', async ({ kubectl, step, namespace }) => {
  const apart = `affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: kubernetes.io/hostname, labelSelector: { matchLabels: { app: web } } }] } }`;
  const server = `
apiVersion: v1
kind: Pod
metadata: { name: server, labels: { app: web, serves: "yes" } }
spec:
  hostname: server
  subdomain: headless
  ${apart}
  containers: [{ name: web, image: busybox, command: [sh, -c, "mkdir /www; echo hello > /www/index.html; httpd -f -h /www -p 8080"] }]
---
apiVersion: v1
kind: Pod
metadata: { name: client, labels: { app: web } }
spec:
  ${apart}
  containers: [{ name: sleep, image: busybox, command: [sleep, "3600"] }]
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { serves: "yes" }, ports: [{ port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: Service
metadata: { name: headless }
spec: { clusterIP: None, selector: { serves: "yes" }, ports: [{ name: http, port: 8080 }] }
`;
  await step('two pods run on two nodes', async () => {
    await kubectl('apply -f -', { input: server });
    await kubectl('wait pods --all --for=condition=Ready --timeout=90s');
    const nodes = await kubectl('get pods -o jsonpath={.items[*].spec.nodeName}');
    expect(new Set(nodes.split(' ')).size).toBe(2);
  });
  for (const address of [
    'web',
    `web.${namespace}.svc.cluster.local`,
    'headless:8080',
    `server.headless.${namespace}.svc:8080`,
  ]) {
    await step(`http://${address}`, async () => {
      const answer = await until('an answer', () =>
        kubectl(`exec client -- timeout 2 wget -q -O - http://${address}/`),
      );
      expect(answer).toBe('hello\n');
    });
  }
  await step('the headless name resolves to the pod IP', async () => {
    const address = await kubectl('get pod server -o jsonpath={.status.podIP}');
    expect(await kubectl(`exec client -- nslookup server.headless.${namespace}.svc.cluster.local`)).toContain(address);
  });
});

story('a pod with a missing image has ErrImagePull, and runs with a corrected image', async ({ kubectl, step }) => {
  await step('a missing tag is reported', async () => {
    await kubectl('run typo --image=quay.io/coreos/etcd:v3.99.0');
    const reason = '{.status.containerStatuses[0].state.waiting.reason}';
    await kubectl(`wait pod/typo --for=jsonpath=${reason}=ErrImagePull --timeout=60s`);
  });
  await step('an existing tag starts the pod', async () => {
    await kubectl('set image pod/typo typo=quay.io/coreos/etcd:v3.5.35');
    await kubectl(`wait pod/typo ${running}`);
  });
});

story.onClusters('the API server enforces RBAC', async ({ kubectl, step, namespace }) => {
  const user = `--as=system:serviceaccount:${namespace}:default`;
  await step('a request without permission is refused', async () => {
    expect(await kubectl.refused(`get pods ${user}`)).toContain('is forbidden');
  });
  await step('only granted permissions are allowed', async () => {
    await kubectl('create role reader --verb=get,list --resource=pods');
    await kubectl(`create rolebinding reader --role=reader --serviceaccount=${namespace}:default`);
    await until('the grant is effective', () => kubectl(`get pods ${user}`));
    expect(await kubectl.refused(`get secrets ${user}`)).toContain('is forbidden');
    expect(await kubectl.refused(`get pods ${user} --namespace default`)).toContain('is forbidden');
  });
  await step('blockOwnerDeletion is refused without permission on the finalizers of the owner', async () => {
    await kubectl('create role writer --verb=create --resource=configmaps');
    await kubectl(`create rolebinding writer --role=writer --serviceaccount=${namespace}:default`);
    await kubectl('create configmap owner');
    const uid = await kubectl('get configmap owner -o jsonpath={.metadata.uid}');
    const owned = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"${uid}","blockOwnerDeletion":true}]}}`;
    await until('the grant is effective', () => kubectl(`create configmap free ${user}`));
    expect(await kubectl.refused(`create ${user} -f -`, { input: owned })).toContain('cannot set blockOwnerDeletion');
  });
});

story.onClusters(
  'the operator image has no shell, and runs in a restricted namespace',
  async ({ kubectl, step, namespace }) => {
    const image = process.env['IMAGE'] || 'etcd-operator:latest';
    const restricted = JSON.stringify({
      spec: {
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'operator',
            image,
            imagePullPolicy: 'Always',
            args: ['--version'],
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      },
    });
    await step('the image runs in a restricted namespace', async () => {
      await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
      await kubectl(`run operator --image=${image} --restart=Never --overrides='${restricted}'`);
      await kubectl(`wait pod/operator ${succeeded}`);
      expect(await kubectl('logs operator')).toMatch(/^etcd-operator \d+\.\d+\.\d+\n$/);
    });
    await step('the image has no shell', async () => {
      await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce-`);
      await kubectl(`run shell --image=${image} --restart=Never --command -- /bin/sh`);
      await kubectl('wait pod/shell --for=jsonpath={.status.phase}=Failed --timeout=60s');
      expect(
        await kubectl('get pod shell -o jsonpath={.status.containerStatuses[0].state.terminated.message}'),
      ).toContain('no such file');
    });
  },
);
