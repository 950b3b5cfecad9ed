import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, openSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configMaps, serviceAccounts } from '../../lab/kinds.ts';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../src/kube/object.ts';
import { namespaces, persistentVolumeClaims, pods, type Resource, services } from '../../src/kube/resource.ts';
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
  readonly message: string;
}

/** The lab as a command of an ordinary user, with a real API server that has no nodes. */
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
    await home.giveToUser();
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
    await rm(this.#running, { force: true }); // a killed lab leaves this file behind
    this.#child = this.home.command(['--kubeconfig', this.#kubeconfig, '--empty', '--nodes', '3'], log);
    const child = this.#child;
    await until('the lab is up', async () => {
      if (child.exitCode !== null) throw new Error(`the lab ended: ${this.log}`);
      return statSync(this.#running).size > 0 ? true : undefined;
    });
  }

  /** Runs another command of the lab to its end. */
  async runCommand(...args: readonly string[]): Promise<void> {
    const child = this.home.command(args, 'inherit');
    const [code] = (await once(child, 'exit')) as [number];
    if (code !== 0) throw new Error(`lab ${args.join(' ')}: ended with ${code}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // `setpriv` executes the lab: the child is the lab process.
    child.kill(signal);
    await ended;
  }

  leftovers(): readonly string[] {
    return this.home.leftovers();
  }

  /** A namespace with the objects that the controllers of a cluster create. */
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

  /** Runs a shell line in a new pod to its end; returns exit code and termination message. */
  async shell(namespace: string, name: string, { line, volumes = [] }: ShellOptions): Promise<Termination> {
    const mounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
    const command = ['sh', '-c', `(${line}) > /dev/termination-log 2>&1`];
    const containers = [{ name: 'shell', image: etcdImage, command, volumeMounts: mounts }];
    const spec = { volumes, restartPolicy: 'Never', containers };
    await this.#create({ namespace, name, labels: { app: 'shell' } }, spec); // no Service selects it
    const isOver = (pod: Pod): boolean => endOf(pod) !== undefined;
    const { exitCode, message = '' } = endOf(await this.when(namespace, name, isOver)) ?? { exitCode: 1 };
    return { exitCode, message: message.trim() };
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

  /** Waits until the pod meets the condition; returns the pod. */
  async when(namespace: string, name: string, holds: (pod: Stored<Pod>) => boolean): Promise<Stored<Pod>> {
    let last: Stored<Pod> | undefined;
    return await until(`pod ${name} meets the condition`, async () => {
      last = await this.server.client.get(pods, { namespace, name });
      return holds(last) ? last : undefined;
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
