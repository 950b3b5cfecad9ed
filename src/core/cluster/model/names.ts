declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** The ID of a member in etcd's member list. It is a uint64 on the wire: a `number` would lose bits. */
export type MemberId = Brand<bigint, 'MemberId'>;
/** The name of a member, of its pod, and of the host in its peer URL. */
export type MemberName = Brand<string, 'MemberName'>;
