declare const bundledVersion: string | undefined;

/** Set by the bundler. A program that runs from source has no version. */
export const operatorVersion: string = typeof bundledVersion === 'string' ? bundledVersion : 'from source';
