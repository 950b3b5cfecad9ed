import fc from 'fast-check';

/** `FAST_CHECK_SEED` makes property tests repeatable: a check of one commit has the same examples everywhere. */
const { FAST_CHECK_SEED: seed = '' } = process.env;
if (seed !== '') fc.configureGlobal({ seed: Number(seed) });
