/** A fact that could not be read, with the reason. */
export interface Unseen {
  readonly unseen: string;
}

export function isUnseen(fact: unknown): fact is Unseen {
  return typeof fact === 'object' && fact !== null && 'unseen' in fact;
}
