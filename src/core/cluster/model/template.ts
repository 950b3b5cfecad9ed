/** A part of a manifest that the operator passes to Kubernetes unchanged. */
export type ManifestPart = Readonly<Record<string, unknown>>;

/** The template of member pods and their PVCs. */
export interface MemberTemplate {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly env: readonly ManifestPart[];
  /** Fields of the pod spec exactly as the user wrote them. */
  readonly passed: ManifestPart;
  readonly resources: ManifestPart | undefined;
  readonly nodeSelector: ManifestPart | undefined;
  readonly affinity: ManifestPart | undefined;
  readonly tolerations: readonly ManifestPart[] | undefined;
  readonly securityContext: ManifestPart | undefined;
  /** The spec of the PVC; without it, data is in an emptyDir and is deleted with the pod. */
  readonly claim: ManifestPart | undefined;
  /** Set if etcd starts only after the member's own DNS name resolves. */
  readonly nameCheck: NameCheck | undefined;
  readonly peerTLS: SecretFiles | undefined;
  readonly clientTLS: SecretFiles | undefined;
  /** True if the spec asks to serve clients without TLS as well. */
  readonly acceptsPlainClients?: boolean | undefined;
  /** Set only in dual-mode: see `TlsMode`. */
  readonly peersListen?: 'http';
  readonly clientsServed?: 'either-way';
  /** The keys in the user's Secrets. Not part of the spec. */
  readonly keysFound?: KeysFound;
  /** The operator's own Secret, mounted in place of the Secrets in the spec. Not part of the spec. */
  readonly memberSecret?: MemberSecret | undefined;
}

/** The operator's own Secret for members, and the hashes of its content. */
export interface MemberSecret {
  readonly secret: string;
  readonly caHash: string;
  /** The CA hash of its first content. Pods without a hash annotation trust these CAs. */
  readonly initialCaHash: string;
  /** The hash of the certificates. */
  readonly certHash: string;
}

export interface NameCheck {
  readonly image: string;
  readonly tries: number;
}

/** The names of a certificate, its key and the trusted CAs, as keys of a Secret or as files. */
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

/** The keys of the user's Secrets, if known. */
export interface KeysFound {
  readonly peer?: CertificateNames | undefined;
  readonly client?: CertificateNames | undefined;
}

/** The names that a dialect gives to its objects: those of the original operator. */
export interface Naming {
  /** Prefix of the operator's own annotations. */
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

/** Port names. Clients use the port names of the Service in DNS SRV lookups. */
export interface PortNames {
  readonly service: { readonly client: string; readonly peer: string };
  readonly container: { readonly client: string; readonly peer: string };
}

/** The mount path of a member's volume, and the data directory on it. */
export interface DataPlace {
  readonly mountPath: string;
  readonly directory: string;
}

export const ports = { client: 2379, peer: 2380 } as const;
