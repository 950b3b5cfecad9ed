/** Where what is sent comes back, in the pod that the contract speaks with. */
export const echoPort = 7777;
