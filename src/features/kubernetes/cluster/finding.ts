import type { TextPosition } from '../../../kubernetes/objects/json-objects.js';

/** A place in a file, or in an answer of the API server, which has no lines. */
export interface FindingPlace extends Partial<TextPosition> {
  /** A path, of a file or of the API; or 'standard input'. */
  readonly file: string;
}

/** Something in the files that is wrong, or that the simulation does not take into account. */
export interface Finding {
  /** `error`: the object is left out. `warning`: it counts, as the message says. */
  readonly level: 'error' | 'warning';
  readonly at: FindingPlace;
  /** 'Pod shop/web'; '': text that is not an object. */
  readonly object: string;
  readonly message: string;
  /** The number of further objects with the same message. */
  more: number;
}

/** Findings, of which those with the same message count as one. */
export class Findings {
  readonly #byKey = new Map<string, Finding>();

  get list(): readonly Finding[] {
    return [...this.#byKey.values()];
  }

  /** @param group  findings of one group and message count as one; left out: of one object */
  add(level: Finding['level'], at: FindingPlace, object: string, message: string, group = object): void {
    const key = `${at.file}\n${group}\n${message}${group === '' ? `${String(at.line)}:${String(at.column)}` : ''}`;
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, { level, at, object, message, more: 0 });
    else known.more += 1;
  }
}

/** 'dump.json:3:5: Pod shop/web: …'. */
export function findingText({ at, object, message, more, level }: Finding): string {
  const others = more === 0 ? '' : ` (and ${String(more)} more)`;
  const what = object === '' ? '' : `${object}${others}: `;
  return `${[at.file, at.line, at.column].filter((part) => part !== undefined).join(':')}: ${level}: ${what}${message}`;
}
