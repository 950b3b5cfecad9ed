declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A *member* is an entry in etcd's own membership list. uint64 on the wire: a `number` would lose bits. */
export type MemberId = Brand<bigint, 'MemberId'>;
/** A *carrier* is what we run so that a member can exist. It has the member's name, which is in the member's peer URL. */
export type CarrierName = Brand<string, 'CarrierName'>;
