/**
 * Limits in stories are written for a machine that does nothing else, and tell what never comes from what is slow. Where
 * several stories share two cores, everything may take this much longer without being wrong. A run that tells stories one by one
 * sets it lower.
 */
export const patience = Number(process.env['STORIES_PATIENCE'] ?? 4);

/** A shorter wait is one that a story expects to end without an answer. */
const shortest = 20;

/** The same command line, with its limit stretched. */
export const patiently = (words: string): string =>
  words.replaceAll(/--timeout=(\d+)s\b/g, (whole, seconds: string) =>
    Number(seconds) < shortest ? whole : `--timeout=${Number(seconds) * patience}s`,
  );
