import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { condition, waitFor } from '../support/waits.ts';

const onNode = (name: string, node: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  nodeName: ${node}
  containers:
    - name: web
      image: busybox
      command: [sh, -c, "mkdir -p /www; echo ${name} > /www/index.html; echo started >> /kept/starts; httpd -f -h /www -p 8080"]
      volumeMounts: [{ name: kept, mountPath: /kept }]
  volumes: [{ name: kept, emptyDir: {} }]
`;

story.onOurCluster(
  'a stopped node becomes NotReady, and restarts its pods when it returns',
  async ({ kubectl, step, nodes }) => {
    await step('a pod runs on node2', async () => {
      await kubectl('apply -f -', { input: onNode('resident', 'node2') });
      await kubectl('wait pod/resident --for=condition=Ready --timeout=60s');
    });
    try {
      await step('node2 is stopped and becomes NotReady', async () => {
        await nodes.stop('node2');
        await kubectl('wait node/node2 --for=condition=Ready=Unknown --timeout=60s');
        await kubectl('wait pod/resident --for=condition=Ready=False --timeout=60s');
      });
    } finally {
      await step('node2 is started', () => nodes.start('node2'));
    }
    await step('the pod restarts on node2 with the data of its emptyDir', async () => {
      await kubectl('wait pod/resident --for=condition=Ready --timeout=60s');
      expect(await kubectl('exec resident -- cat /kept/starts')).toBe('started\nstarted\n');
      expect(await kubectl('get pod resident -o jsonpath={.status.containerStatuses[0].restartCount}')).toBe('1');
    });
  },
);

story.onOurCluster(
  'a network partition between two nodes leaves their connections to a third node',
  async ({ kubectl, step, nodes }) => {
    const places = { one: 'node1', two: 'node2', three: 'node3' } as const;
    type Pod = keyof typeof places;
    await step('a pod runs on each node', async () => {
      for (const [pod, node] of Object.entries(places)) await kubectl('apply -f -', { input: onNode(pod, node) });
      await kubectl('wait pods --all --for=condition=Ready --timeout=60s');
    });
    const addressOf = (pod: Pod) => kubectl(`get pod ${pod} -o jsonpath={.status.podIP}`);
    const reaches = async (from: Pod, to: Pod): Promise<boolean> => {
      const request = kubectl(`exec ${from} -- timeout 1 wget -q -O - http://${await addressOf(to)}:8080/`);
      return request.then(
        (answer) => answer === `${to}\n`,
        () => false,
      );
    };
    const pairs: readonly (readonly [Pod, Pod])[] = [
      ['one', 'two'],
      ['two', 'one'],
      ['one', 'three'],
      ['three', 'two'],
    ];
    const reachable = async (): Promise<readonly boolean[]> =>
      Promise.all(pairs.map(([from, to]) => reaches(from, to)));
    // On a busy machine an answer may take longer than a second.
    const isReachable = (...answers: readonly boolean[]): Promise<true> =>
      until(`answers: ${answers.join(', ')}`, async () => isDeepStrictEqual(await reachable(), answers) || undefined);

    await step('every pod reaches every other pod', () => isReachable(true, true, true, true));
    try {
      await step('node1 and node2 cannot reach each other', async () => {
        await nodes.cutOff('node1', 'node2');
        await isReachable(false, false, true, true);
        for (const node of ['node1', 'node2']) await waitFor(kubectl, `node/${node}`, condition('Ready'));
      });
    } finally {
      await step('the partition is removed', () => nodes.rejoin('node1', 'node2'));
    }
    await step('every pod reaches every other pod again', () => isReachable(true, true, true, true));
  },
);
