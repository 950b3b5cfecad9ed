import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { portForward } from '../../src/kube/port-forward.ts';
import { attempt } from '../../tools/lib/run.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';
import { echoPort } from './echo-port.ts';
import { contract, done, isLab } from './support.ts';

const { kubectl, request, create, patch, namespace } = contract('streams');
const path = `/api/v1/namespaces/${namespace}/pods/p`;

beforeAll(async () => {
  const command = ['sh', '-c', `echo hello from c; nc -ll -p ${echoPort} -e cat`];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'busybox', command }] },
  };
  await done(create(pod));
  if (isLab) await becomeReady();
  await until('the pod is ready', async () => (await isReady()) || undefined);
});

/** Binds the pod and sets it ready, as the scheduler and a kubelet would. */
async function becomeReady(): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'this-machine' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target };
  await done(request('POST', `${path}/binding`, { body: binding }));
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await done(patch(`${path}/status`, { status }, 'strategic'));
}

async function isReady(): Promise<boolean> {
  const { status } = (await done(request('GET', path))) as {
    status: { conditions?: { type: string; status: string }[] };
  };
  return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

describe('a container', () => {
  it('returns its logs, and rejects an unknown container name', async () => {
    // A container can be ready before its first log line is written.
    const logged = await until('the container has a log line', async () => (await kubectl('logs p')) || undefined);
    expect(logged).toBe('hello from c\n');
    expect(await kubectl.refused('logs p -c other')).toContain('container other is not valid for pod p');
  });

  it('runs commands by exec and returns their exit code', async () => {
    expect(await kubectl("exec p -- sh -c 'echo out; echo err >&2'")).toBe('out\n');
    const ended = await attempt('kubectl', ['-n', namespace, 'exec', 'p', '--', 'sh', '-c', 'echo oops >&2; exit 3']);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('oops');
  });

  it('is reachable by port-forward; a closed port is refused', async () => {
    const access = await fromKubeconfig(kubeconfigPath());
    const portOf = (port: number): Promise<Duplex> => portForward(access, { namespace, name: 'p', port });
    const answer = await until('the echo server listens', async () => {
      const echo = await portOf(echoPort);
      echo.write('there and back');
      const [received] = (await once(echo, 'data')) as [Buffer];
      echo.destroy();
      return received.toString();
    });
    expect(answer).toBe('there and back');
    const closed = (async () => await text(await portOf(9)))();
    await expect(closed).rejects.toThrow(/port 9: .*refused/);
  });

  it('receives stdin by exec -i', async () => {
    expect(await kubectl('exec -i p -- cat', { input: 'from here to there\n' })).toBe('from here to there\n');
  });
});
