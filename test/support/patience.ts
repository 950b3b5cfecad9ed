/**
 * The factor for all time-outs of stories. Time-outs are written for an idle machine. When several stories share two cores, they
 * take longer; a run of one story at a time sets a lower factor.
 */
export const patience = Number(process.env['STORIES_PATIENCE'] ?? 4);

/** Seconds. A story expects a shorter wait to time out, so it is not stretched. */
const shortest = 20;

/** The command line with its time-out multiplied by `patience`. */
export const stretchTimeouts = (line: string): string =>
  line.replaceAll(/--timeout=(\d+)s\b/g, (whole, seconds: string) =>
    Number(seconds) < shortest ? whole : `--timeout=${Number(seconds) * patience}s`,
  );
