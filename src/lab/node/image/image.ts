/** Something of the host that is seen at a place inside a container. */
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

/** What a container is started from. There are no layers to fetch: it is made of what is on this machine. */
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

/** Gives images by name; throws a Failure that says what the lab can run. */
export type FindImage = (reference: string) => Promise<Image>;

export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
