/** Seeds whose lives break an invariant for a reason that is known and not mended yet. */
export const knownHoles: Readonly<Record<number, string>> = {
  83: 'the volume of a bootstrap member is lost before the cluster forms: it never forms, and no condition says why',
};

/** Seeds whose lives have shown a defect, with the defect. They must stay green. */
export const foundDefects: Readonly<Record<number, string>> = {
  8: 'bootstrap members with data started two minors above their data',
  31: 'a ready member that did not answer one call was stopped while another restarted',
  122: 'bootstrap members with data started two minors above their data',
  218: 'the image of a ready member that did not answer one call was changed while another restarted',
};
