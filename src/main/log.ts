import { type Logger, pino } from 'pino';

export type Log = Logger;

/** One line of JSON for everything that is worth telling. */
export const makeLog = (level: string): Log => pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
