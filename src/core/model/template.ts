/** A part of a manifest that users write and Kubernetes understands; we pass it on as it is. */
export type Passed = Readonly<Record<string, unknown>>;

/** What a member's body is made of, apart from who it is. */
export interface MemberTemplate {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly env: readonly Passed[];
  /** Fields of the pod's spec that are as the user wrote them. */
  readonly passed: Passed;
  readonly resources: Passed | undefined;
  readonly nodeSelector: Passed | undefined;
  readonly affinity: Passed | undefined;
  readonly tolerations: readonly Passed[] | undefined;
  readonly securityContext: Passed | undefined;
  /** The claim for a disk of its own; without one the data lives and dies with the pod. */
  readonly claim: Passed | undefined;
  /** Whether to wait, before etcd starts, until the member's own name can be looked up. */
  readonly nameCheck: NameCheck | undefined;
  readonly peerTLS: SecretFiles | undefined;
  readonly clientTLS: SecretFiles | undefined;
  /** Whether clients without encryption are served too, for as long as the user says so. */
  readonly acceptsPlainClients?: boolean | undefined;
  /** Set only on the way from one to the other: see `Encryption`. */
  readonly peersListen?: 'http';
  readonly clientsServed?: 'either-way';
  /** Found by looking into the Secrets, and so no part of what the user asked for. */
  readonly keysFound?: KeysFound;
  /** The Secret of ours that is mounted in place of those that the spec names; no part of it either. */
  readonly kept?: KeptSecret | undefined;
}

/** Our Secret for members, and a mark of the authorities in it. */
export interface KeptSecret {
  readonly secret: string;
  readonly believed: string;
  /** The mark of what was in it first: pods that were made before there were marks believe that. */
  readonly believedAtFirst: string;
  /** A mark of the certificates in it. */
  readonly shown: string;
}

export interface NameCheck {
  readonly image: string;
  readonly tries: number;
}

/** What a certificate, its key and the authorities to believe are called, in a Secret or as files. */
export interface CertificateNames {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** A Secret, where it is mounted, and the names of the files there. */
export interface SecretFiles extends CertificateNames {
  readonly secret: string;
  readonly mountPath: string;
}

/** Under which keys Secrets hold their files, where that is known. */
export interface KeysFound {
  readonly peer?: CertificateNames | undefined;
  readonly client?: CertificateNames | undefined;
}

/** Names that a dialect gives to what it makes, so that users of the original find what they know. */
export interface Naming {
  /** Beginning of our own annotations. */
  readonly prefix: string;
  readonly clusterLabels: Readonly<Record<string, string>>;
  readonly memberLabel: string;
  readonly versionAnnotation: string;
  readonly peerService: string;
  readonly clientService: string;
  /** Appended to `<member>.<service>.<namespace>.svc` in URLs. */
  readonly domain: string;
  readonly ports: PortNames;
  readonly data: DataPlace;
}

/** By the names of a Service's ports clients find members in DNS. */
export interface PortNames {
  readonly service: { readonly client: string; readonly peer: string };
  readonly container: { readonly client: string; readonly peer: string };
}

/** Where a member's volume is mounted, and where on it the data is. */
export interface DataPlace {
  readonly mountPath: string;
  readonly directory: string;
}

export const ports = { client: 2379, peer: 2380 } as const;
