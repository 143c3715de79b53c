/** What every gzip member of a recording begins with: deflate, no name, no time. Nine bytes that compressed data have once in 2^72. */
const BEGINNING = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0]);

/** A piece of one member. What is not gzip at all is one member, too. */
export interface MemberPiece {
  readonly begins: boolean;
  readonly bytes: Buffer;
}

/**
 * The members of a file, told apart by how they begin: zlib itself finds the next one only behind one that was ended, and a run that was killed did
 * not end its own.
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

/** @param begins  the bytes begin with a member, which is not meant */
function nextMember(bytes: Buffer, begins: boolean): number {
  return bytes.indexOf(BEGINNING, begins ? 1 : 0);
}
