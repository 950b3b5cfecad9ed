import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, openSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../src/kube/object.ts';
import { namespaces, persistentVolumeClaims, pods, type Resource, services } from '../../src/kube/resource.ts';
import { configMaps, serviceAccounts } from '../../src/lab/kinds.ts';
import { LabHome } from './lab-home.ts';
import { type LoneApiServer, loneApiServer } from './lone-api-server.ts';
import { until } from './until.ts';

const etcdVersion = '3.5.21';
export const etcdImage = `quay.io/coreos/etcd:v${etcdVersion}`;

export interface ShellOptions {
  readonly line: string;
  readonly volumes?: NonNullable<NonNullable<Pod['spec']>['volumes']>;
}

export interface Termination {
  readonly exitCode: number;
  readonly said: string;
}

/** The lab's own command, run as an ordinary user beside a real API server that has no nodes. */
export class TestLab {
  readonly server: LoneApiServer;
  readonly home: LabHome;
  #child: ChildProcess | undefined;

  private constructor(server: LoneApiServer, home: LabHome) {
    this.server = server;
    this.home = home;
  }

  get directory(): string {
    return this.home.directory;
  }

  static async open(): Promise<TestLab> {
    const home = LabHome.withBuilt([etcdVersion]);
    const lab = new TestLab(await loneApiServer(), home);
    copyFileSync(lab.server.kubeconfig, lab.#kubeconfig);
    await home.handOver();
    await lab.start();
    return lab;
  }

  get #kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }

  get log(): string {
    return readFileSync(join(this.directory, 'log'), 'utf8');
  }

  async start(): Promise<void> {
    const log = openSync(join(this.directory, 'log'), 'a');
    await rm(this.#running, { force: true }); // a lab that was killed leaves its own behind
    this.#child = this.home.command(['--kubeconfig', this.#kubeconfig, '--empty', '--nodes', '3'], log);
    const child = this.#child;
    await until('the lab is up', async () => {
      if (child.exitCode !== null) throw new Error(`the lab ended: ${this.log}`);
      return statSync(this.#running).size > 0 ? true : undefined;
    });
  }

  /** Another command of the lab's, to its end. */
  async tell(...words: readonly string[]): Promise<void> {
    const child = this.home.command(words, 'inherit');
    const [code] = (await once(child, 'exit')) as [number];
    if (code !== 0) throw new Error(`lab ${words.join(' ')}: ended with ${code}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // The child is `setpriv` become the lab: one process, whoever we are.
    child.kill(signal);
    await ended;
  }

  leftovers(): readonly string[] {
    return this.home.leftovers();
  }

  /** A namespace with what a cluster's own controllers would put into it. */
  async namespace(name: string): Promise<string> {
    const { client } = this.server;
    const metadata = { namespace: name, name: 'default' };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: name, name: 'kube-root-ca.crt' } };
    await this.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    await client.create(configMaps, {
      ...map,
      data: { 'ca.crt': readFileSync(join(dirname(this.server.kubeconfig), 'ca.crt'), 'utf8') },
    });
    return name;
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<void> {
    await this.server.client.create(resource, object).catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown;
    });
  }

  /** Runs a line of shell in a pod of its own, to its end, and gives back its exit code and last words. */
  async shell(namespace: string, name: string, { line, volumes = [] }: ShellOptions): Promise<Termination> {
    const mounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
    const command = ['sh', '-c', `(${line}) > /dev/termination-log 2>&1`];
    const containers = [{ name: 'shell', image: etcdImage, command, volumeMounts: mounts }];
    const spec = { volumes, restartPolicy: 'Never', containers };
    await this.#create({ namespace, name, labels: { app: 'shell' } }, spec); // no Service is to lead to it
    const isOver = (pod: Pod): boolean => endOf(pod) !== undefined;
    const { exitCode, message = '' } = endOf(await this.when(namespace, name, isOver)) ?? { exitCode: 1 };
    return { exitCode, said: message.trim() };
  }

  pod(namespace: string, name: string, spec: NonNullable<Pod['spec']>): Promise<void> {
    return this.#create({ namespace, name, labels: { app: 'test' } }, spec);
  }

  async #create(metadata: Pod['metadata'], spec: NonNullable<Pod['spec']>): Promise<void> {
    await this.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { terminationGracePeriodSeconds: 5, ...spec },
    });
  }

  async service(namespace: string, name: string, spec: object): Promise<void> {
    const full = { selector: { app: 'test' }, ports: [{ name: 'etcd-client', port: 2379 }], ...spec };
    await this.create(services, { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: full });
  }

  async claim(namespace: string, name: string): Promise<void> {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const object = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace, name }, spec };
    await this.create(persistentVolumeClaims, object);
  }

  /** The pod, as soon as it is what is awaited. */
  async when(namespace: string, name: string, isSo: (pod: Stored<Pod>) => boolean): Promise<Stored<Pod>> {
    let last: Stored<Pod> | undefined;
    return await until(`pod ${name} is as awaited`, async () => {
      last = await this.server.client.get(pods, { namespace, name });
      return isSo(last) ? last : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(last?.status, undefined, 1)}\n${this.log}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGTERM');
    await this.server[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }

  get #running(): string {
    return join(this.directory, 'home/running.json');
  }
}

export const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

const endOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.terminated;
