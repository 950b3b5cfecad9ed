import type { ManagedCertificates } from '../core/certificates/due.ts';
import type { Blueprint } from '../core/desired/manifest.ts';
import type { Memory } from '../core/model/cluster.ts';
import type { Step, Verdict } from '../core/plan/cluster/step.ts';
import type { ClusterStatus } from '../core/status/cluster-status.ts';
import type { Parsed } from './parsed.ts';

/** A cluster as somebody asked for it, in the core's words. */
export interface ReadCluster {
  readonly blueprint: Blueprint;
  readonly memory: Memory;
  /** The Secret with which the operator itself enters, where clients need a certificate. */
  readonly operatorSecret: SecretOfClient | undefined;
  /** Set where the operator makes the certificates itself. */
  readonly managedCertificates?: ManagedCertificates | undefined;
  /** The Secret with its name and password, where etcd has users. */
  readonly operatorCredentials: string | undefined;
}

/** A Secret with a client's certificate, and the names of the files in it. */
export interface SecretOfClient {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** Something that users are told once, when it happens. */
export interface Told {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What a status is made from. */
export interface Findings {
  readonly status: ClusterStatus;
  readonly blueprint: Blueprint;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** One user-facing API of clusters, in both directions. Everything between the two is shared. */
export interface ClusterDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Finds everything that is made for clusters of this API, by its labels. */
  readonly selector: string;
  readonly read: (raw: unknown) => Parsed<ReadCluster>;
  /** The status to publish; equal to `previous` when there is nothing new to say. */
  readonly writeStatus: (findings: Findings, previous: unknown) => object;
  /** The status of an object that cannot be read: what is wrong with it, beside what was known before. */
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  /** What to tell of a spec that can be carried out, but perhaps is not what its author meant. */
  readonly tellSpec: (blueprint: Blueprint) => readonly Told[];
  /** What to tell when a step has been taken. */
  readonly tellStep: (step: Step) => readonly Told[];
  /** What to tell when the operator can only wait. */
  readonly tellWait: (verdict: Verdict) => readonly Told[];
}
