import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { run } from '../../tools/lib/run.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const talker = `
apiVersion: v1
kind: Pod
metadata: { name: talker }
spec:
  containers:
    - name: talker
      image: busybox
      stdin: true
      command: [sh, -c, "echo started; while read line; do echo heard $line; done"]
`;

story('logs, exec and attach work as typed', async ({ kubectl, step, namespace }) => {
  await kubectl('apply -f -', { input: talker });
  await kubectl('wait pod/talker --for=condition=Ready --timeout=60s');
  await step('logs', async () => {
    expect(await until('a first line', async () => (await kubectl('logs talker')) || undefined)).toBe('started\n');
  });
  await step('exec', async () => {
    expect(await kubectl('exec talker -- hostname')).toBe('talker\n');
    expect(await kubectl('exec -i talker -- cat', { input: 'through a pipe' })).toBe('through a pipe');
    await expect(kubectl("exec talker -- sh -c 'exit 3'")).rejects.toThrow('exit code 3');
  });
  await step('attach', async () => {
    const attached = run('kubectl', ['--namespace', namespace, 'attach', '-i', 'talker'], { input: 'knock\n' });
    await until('the pod heard it', async () => (await kubectl('logs talker')).includes('heard knock') || undefined);
    await attached;
    // Whoever attaches next finds it where it was: it does not end with what the first had to say.
    expect(await kubectl('get pod talker -o jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0');
  });
});

story('a shell can be had by run -it --rm', async ({ kubectl, step, namespace }) => {
  await step('at a terminal', async () => {
    const command = `kubectl --namespace ${namespace} run -it --rm shell --image=quay.io/coreos/etcd --restart=Never -- /bin/sh`;
    const said = await run('script', ['-qec', command, '/dev/null'], { input: 'echo 6 times 7 is $((6 * 7)); exit\n' });
    expect(said).toContain('6 times 7 is 42');
    expect(said).toContain('pod "shell" deleted');
  });
  await step('nothing of it stays', async () => {
    await kubectl('wait pod/shell --for=delete --timeout=30s');
  });
});

story.onClusters('a port can be forwarded', async ({ kubectl, step, namespace }) => {
  await kubectl(
    "run web --image=busybox -- sh -c 'mkdir /www; echo hello > /www/index.html; httpd -f -h /www -p 8080'",
  );
  await kubectl('wait pod/web --for=condition=Ready --timeout=60s');
  // A forward ends for good when it is used before anybody listens.
  await until('it serves', () => kubectl('exec web -- wget -q -O - http://127.0.0.1:8080/'));
  await step('port-forward', async () => {
    const forward = spawn('kubectl', ['--namespace', namespace, 'port-forward', 'pod/web', ':8080'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(forward.stdout, 'data')) as [Buffer];
      const port = /127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1];
      const answer = await until('an answer', () => fetch(`http://127.0.0.1:${port}/`));
      expect(await answer.text()).toBe('hello\n');
    } finally {
      forward.kill();
    }
  });
});

story.onOurCluster('the audit log tells who wrote what', async ({ kubectl, step, namespace, nodes }) => {
  await step('a write is in the log, once', async () => {
    await kubectl('create configmap noted');
    const lines = await until('the entry', async () => {
      const entries = readFileSync(nodes.auditLog, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`namespaces/${namespace}/configmaps`));
      const writes = entries.filter((line) => line.includes('"verb":"create"') && line.includes('kubectl-create'));
      return writes.length > 0 ? writes : undefined;
    });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ user: { username: 'admin' }, responseStatus: { code: 201 } });
  });
});
