/** The user of a request. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const masters = 'system:masters';
export const authenticated = 'system:authenticated';

export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
export const theServer: User = { name: 'system:apiserver', groups: [masters, authenticated] };

export const groupsOfAccount = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

export const isMaster = ({ groups }: User): boolean => groups.includes(masters);
