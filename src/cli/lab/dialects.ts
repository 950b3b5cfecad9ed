/** An API that the operator serves, by the name that its own `--dialects` knows it by. */
export type Dialect = 'coreos' | 'improbable';

export const isDialect = (name: string): name is Dialect => name === 'coreos' || name === 'improbable';
