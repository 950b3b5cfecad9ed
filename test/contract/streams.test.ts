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

const { kubectl, say, create, patch, namespace } = contract('streams');
const path = `/api/v1/namespaces/${namespace}/pods/p`;

beforeAll(async () => {
  const command = ['sh', '-c', `echo c says hello; nc -ll -p ${echoPort} -e cat`];
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

/** What a scheduler and a node would do. */
async function becomeReady(): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'this-machine' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target };
  await done(say('POST', `${path}/binding`, { body: binding }));
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await done(patch(`${path}/status`, { status }, 'strategic'));
}

async function isReady(): Promise<boolean> {
  const { status } = (await done(say('GET', path))) as { status: { conditions?: { type: string; status: string }[] } };
  return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

describe('a container', () => {
  it('has logs', async () => {
    // A container is ready a moment before its first line is in its log.
    const logged = await until('it logs', async () => (await kubectl('logs p')) || undefined);
    expect(logged).toBe('c says hello\n');
    expect(await kubectl.refused('logs p -c other')).toContain('container other is not valid for pod p');
  });

  it('runs commands, and says how they ended', async () => {
    expect(await kubectl("exec p -- sh -c 'echo out; echo err >&2'")).toBe('out\n');
    const ended = await attempt('kubectl', ['-n', namespace, 'exec', 'p', '--', 'sh', '-c', 'echo oops >&2; exit 3']);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('oops');
  });

  it('has ports that can be spoken to from here', async () => {
    const access = await fromKubeconfig(kubeconfigPath());
    const portOf = (port: number): Promise<Duplex> => portForward(access, { namespace, name: 'p', port });
    const answer = await until('it listens', async () => {
      const echo = await portOf(echoPort);
      echo.write('there and back');
      const [said] = (await once(echo, 'data')) as [Buffer];
      echo.destroy();
      return said.toString();
    });
    expect(answer).toBe('there and back');
    const closed = (async () => await text(await portOf(9)))();
    await expect(closed).rejects.toThrow(/port 9: .*refused/);
  });

  it('is given input', async () => {
    expect(await kubectl('exec -i p -- cat', { input: 'from here to there\n' })).toBe('from here to there\n');
  });
});
