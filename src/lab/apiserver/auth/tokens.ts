export interface Tokens { readonly x?: string }
