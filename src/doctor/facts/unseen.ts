/** A fact that could not be had, and why. */
export interface Unseen {
  readonly unseen: string;
}

export function isUnseen(fact: unknown): fact is Unseen {
  return typeof fact === 'object' && fact !== null && 'unseen' in fact;
}
