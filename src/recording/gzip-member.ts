/**
 * The first bytes of every gzip member of a recording: deflate, no name, no time. Compressed data has these nine bytes
 * by chance once in 2^72.
 */
const BEGINNING = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0]);

/** A piece of one member. A file that is not compressed is one member. */
export interface MemberPiece {
  readonly begins: boolean;
  readonly bytes: Buffer;
}

/**
 * The members of a file, found by their first bytes: zlib finds the next member only behind a complete one, and a run
 * that was killed has not completed its own.
 */
export async function* membersOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<MemberPiece, void> {
  let held: Buffer = Buffer.alloc(0);
  let begins = true;
  for await (const piece of pieces) {
    held = Buffer.concat([held, piece]);
    for (let at = nextMember(held, begins); at !== -1; at = nextMember(held, begins)) {
      if (at > 0) yield { begins, bytes: held.subarray(0, at) };
      held = held.subarray(at);
      begins = true;
    }
    const sure = held.length - BEGINNING.length + 1; // the rest may be half of a beginning
    if (sure <= 0) continue;
    yield { begins, bytes: held.subarray(0, sure) };
    held = held.subarray(sure);
    begins = false;
  }
  if (held.length > 0) yield { begins, bytes: held };
}

/** @param begins  the bytes begin with a member, which is skipped */
function nextMember(bytes: Buffer, begins: boolean): number {
  return bytes.indexOf(BEGINNING, begins ? 1 : 0);
}
