declare const bundledVersion: string | undefined;

/** Put in by the bundler; a program run from its sources has not been released under any version. */
export const version: string = typeof bundledVersion === 'string' ? bundledVersion : 'from source';
