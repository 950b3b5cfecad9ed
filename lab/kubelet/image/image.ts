/** A file or directory of the host, mounted into a container. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** A symbolic link inside a container. */
export interface Link {
  readonly target: string;
  readonly to: string;
}

/** What a container is started from. Images have no layers: they are assembled from files on this machine. */
export interface Image {
  readonly id: string;
  readonly mounts: readonly Mount[];
  readonly links: readonly Link[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly user: number;
}

/** Finds an image by its reference; fails with a list of what the lab can run. */
export type FindImage = (reference: string) => Promise<Image>;

export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
