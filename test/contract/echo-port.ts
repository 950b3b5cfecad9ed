/** The port of the echo server in the pod of the stream tests. */
export const echoPort = 7777;
