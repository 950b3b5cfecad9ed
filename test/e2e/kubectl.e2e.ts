import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { run } from '../../tools/lib/run.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const echo = `
apiVersion: v1
kind: Pod
metadata: { name: echo }
spec:
  containers:
    - name: echo
      image: busybox
      stdin: true
      command: [sh, -c, "echo started; while read line; do echo heard $line; done"]
`;

story('kubectl logs, exec and attach work with a pod', async ({ kubectl, step, namespace }) => {
  await kubectl('apply -f -', { input: echo });
  await kubectl('wait pod/echo --for=condition=Ready --timeout=60s');
  await step('logs', async () => {
    expect(await until('a first line', async () => (await kubectl('logs echo')) || undefined)).toBe('started\n');
  });
  await step('exec', async () => {
    expect(await kubectl('exec echo -- hostname')).toBe('echo\n');
    expect(await kubectl('exec -i echo -- cat', { input: 'through a pipe' })).toBe('through a pipe');
    await expect(kubectl("exec echo -- sh -c 'exit 3'")).rejects.toThrow('exit code 3');
  });
  await step('attach', async () => {
    const attached = run('kubectl', ['--namespace', namespace, 'attach', '-i', 'echo'], { input: 'knock\n' });
    await until(
      'the pod has read the input',
      async () => (await kubectl('logs echo')).includes('heard knock') || undefined,
    );
    await attached;
    // The container does not end with the input of the first attach.
    expect(await kubectl('get pod echo -o jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0');
  });
});

story('kubectl run -it --rm opens a shell, and deletes its pod afterwards', async ({ kubectl, step, namespace }) => {
  await step('a shell in a terminal', async () => {
    const command = `kubectl --namespace ${namespace} run -it --rm shell --image=quay.io/coreos/etcd --restart=Never -- /bin/sh`;
    const output = await run('script', ['-qec', command, '/dev/null'], {
      input: 'echo 6 times 7 is $((6 * 7)); exit\n',
    });
    expect(output).toContain('6 times 7 is 42');
    expect(output).toContain('pod "shell" deleted');
  });
  await step('the pod is deleted', async () => {
    await kubectl('wait pod/shell --for=delete --timeout=30s');
  });
});

story.onClusters('kubectl port-forward reaches a server in a pod', async ({ kubectl, step, namespace }) => {
  await kubectl(
    "run web --image=busybox -- sh -c 'mkdir /www; echo hello > /www/index.html; httpd -f -h /www -p 8080'",
  );
  await kubectl('wait pod/web --for=condition=Ready --timeout=60s');
  // A port-forward ends if a connection comes before the server listens.
  await until('the server answers', () => kubectl('exec web -- wget -q -O - http://127.0.0.1:8080/'));
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

story.onOurCluster('the audit log has the user and verb of each write', async ({ kubectl, step, namespace, nodes }) => {
  await step('one write has one entry in the audit log', async () => {
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
