import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { fromKubeconfig, inCluster } from './config.ts';

const directory = mkdtempSync(join(tmpdir(), 'kube-config-'));
const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
afterAll(() => rmSync(directory, { recursive: true }));

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  beforeEach(() => {
    write('token', 'one\n');
    write('ca.crt', 'authority');
    write('namespace', 'system');
  });

  it('the access uses the mounted service account', async () => {
    const access = await inCluster(env, { directory });
    expect(access?.url.origin).toBe('https://10.0.0.1');
    expect(access?.namespace).toBe('system');
    expect(await access?.tls()).toEqual({ ca: 'authority' });
    expect(await access?.headers()).toEqual({ authorization: 'Bearer one' });
    const six = await inCluster({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, { directory });
    expect(six?.url.href).toBe('https://[fd00::1]/');
  });

  it('the token is read again after a minute, and the CA for each connection', async () => {
    let millis = 0;
    const access = await inCluster(env, { directory, monotonic: () => millis });
    await access?.headers();
    write('token', 'two');
    write('ca.crt', 'another');
    expect(await access?.headers()).toEqual({ authorization: 'Bearer one' });
    millis = 60_001;
    expect(await access?.headers()).toEqual({ authorization: 'Bearer two' });
    expect(await access?.tls()).toEqual({ ca: 'another' });
  });

  it('the token is read again at once after a 401', async () => {
    const access = await inCluster(env, { directory, monotonic: () => 0 });
    await access?.headers();
    write('token', 'two');
    access?.onUnauthorized?.();
    expect(await access?.headers()).toEqual({ authorization: 'Bearer two' });
  });

  it('a failed read of the token is retried by the next request', async () => {
    rmSync(join(directory, 'token'));
    const access = await inCluster(env, { directory, monotonic: () => 0 });
    await expect(access?.headers()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/token/),
    });
    write('token', 'three');
    expect(await access?.headers()).toEqual({ authorization: 'Bearer three' });
  });

  it('there is no access outside a pod', async () => {
    expect(await inCluster({}, { directory })).toBeUndefined();
  });
});

describe('a kubeconfig', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const config = (user: string): string => `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://example.com:6443/below", certificate-authority-data: ${base64('authority')}}}]
users: [{name: u, user: ${user}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: mine}}, {name: broken, context: {cluster: none, user: u}}]
current-context: x
`;
  const path = join(directory, 'kubeconfig');

  it('gives the server, the namespace and a token', async () => {
    write('kubeconfig', config('{token: secret}'));
    const access = await fromKubeconfig(path);
    expect(access.url.href).toBe('https://example.com:6443/below');
    expect(access.namespace).toBe('mine');
    expect(await access.headers()).toEqual({ authorization: 'Bearer secret' });
    expect(await access.tls()).toEqual({ ca: Buffer.from('authority') });
  });

  it('gives client certificates', async () => {
    const data = `client-certificate-data: ${base64('certificate')}, client-key-data: ${base64('key')}`;
    write('kubeconfig', config(`{${data}}`));
    const access = await fromKubeconfig(path);
    expect(await access.tls()).toMatchObject({ cert: Buffer.from('certificate'), key: Buffer.from('key') });
    expect(await access.headers()).toEqual({});
  });

  it('gives the credentials of an exec plugin', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'made' },
    };
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [JSON.stringify(credential)] };
    write('kubeconfig', config(JSON.stringify({ exec: { ...exec, interactiveMode: 'Never' } })));
    expect(await (await fromKubeconfig(path)).headers()).toEqual({ authorization: 'Bearer made' });
  });

  it('is rejected if its context names no cluster', async () => {
    write('kubeconfig', config('{}'));
    await expect(fromKubeconfig(path, 'broken')).rejects.toThrow('the current context names no cluster');
  });
});
