// Objects of a JSON file of any size, one at a time: a list of 150,000 pods is more text than a string can hold.

/** A place in a file, from 1 on. The column counts bytes. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export interface ObjectText {
  /** An object, or the list that held objects, with `items` emptied. An item may be any other value: the parser's caller refuses it. */
  readonly what: 'object' | 'item' | 'list';
  readonly text: string;
  readonly position: TextPosition;
}

/** The text ends, or goes on, where it may not. */
export class TextEnd extends Error {
  override readonly name = 'TextEnd';

  constructor(
    message: string,
    readonly position: TextPosition,
    /** The text of the object that has not ended; '': it is not in one. */
    readonly text = '',
  ) {
    super(message);
  }
}

const [QUOTE, BACKSLASH, LINE_FEED, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON, COMMA] = [
  ...[0x22, 0x5c, 0x0a, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x2c],
] as [number, number, number, number, number, number, number, number, number];
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, LINE_FEED]);
const ITEMS = '"items"';

/** A byte of null, true, false or a number. */
function isWord(byte: number | undefined): boolean {
  return byte !== undefined && /[-+.\w]/.test(String.fromCharCode(byte));
}

/**
 * Cuts JSON into its objects: those of a list (`items`, or an array) one by one, then the list itself. Looks at braces and
 * strings only, the rest is up to the parser.
 */
export class JsonObjects {
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Depth of braces and brackets. */
  #depth = 0;
  #inString = false;
  /** Whether it is in an item that is null, true, false or a number. */
  #inWord = false;
  /** The part ended in an escape. */
  #isEscaped = false;
  #line = 1;
  /** The offset of the line in #buffer; negative: in a part that is gone. */
  #lineStart = 0;
  /** Depth within the list; undefined: in no list. */
  #itemsDepth: number | undefined;
  /** Start of what is kept, and its position. -1: nothing is kept. */
  #kept = -1;
  #position: TextPosition = { line: 1, column: 1 };
  /** Start of the last string at depth 1, and whether a colon is all that followed it. */
  #keyStart = -1;
  #keyText = '';
  /** The text of the list before its items. */
  #head: { readonly text: string; readonly position: TextPosition } | undefined;

  /** The objects that end in this part. @throws TextEnd */
  *take(part: Buffer): Generator<ObjectText> {
    const from = this.#kept === -1 ? this.#at : this.#kept;
    this.#buffer = from === this.#buffer.length ? part : Buffer.concat([this.#buffer.subarray(from), part]);
    this.#at -= from;
    this.#lineStart -= from;
    this.#keyStart -= from;
    if (this.#kept !== -1) this.#kept = 0;
    yield* this.#scan();
  }

  /** @throws TextEnd  an object or list is not complete */
  end(): void {
    if (this.#depth === 0) return;
    const isInItem = this.#itemsDepth !== undefined && this.#depth > this.#itemsDepth;
    const what = isInItem || this.#itemsDepth === undefined ? `the object that begins in line ${String(this.#position.line)}` : 'a list';
    const text = this.#kept === -1 || this.#inWord ? '' : this.#buffer.toString('utf8', this.#kept);
    throw new TextEnd(`truncated: the file ends within ${what}`, this.#here(), text);
  }

  #here(): TextPosition {
    return { line: this.#line, column: Math.max(1, this.#at - this.#lineStart) };
  }

  *#scan(): Generator<ObjectText> {
    const buffer = this.#buffer;
    for (const end = buffer.length; this.#at < end;) {
      if (this.#inString) {
        if (this.#skipString(buffer, end) && this.#isBetween()) yield this.#item();
        continue;
      }
      if (this.#inWord && !isWord(buffer[this.#at])) {
        this.#inWord = false;
        yield this.#item();
      }
      const byte = buffer[this.#at++];
      if (byte === QUOTE && this.#depth > 0) {
        this.#inString = true;
        if (this.#isBetween()) this.#keep();
        else if (this.#depth === 1) this.#keyStart = this.#at - 1;
      } else if (byte === LINE_FEED) {
        this.#line += 1;
        this.#lineStart = this.#at;
      } else if (byte === OPEN || byte === OPEN_LIST) this.#open(byte);
      else if (byte === CLOSE || byte === CLOSE_LIST) yield* this.#close(byte);
      else if (this.#depth > 0 && this.#isBetween() && isWord(byte)) this.#startWord();
      else if (this.#isBetween() && byte !== undefined && byte !== COMMA && !SPACES.has(byte))
        throw new TextEnd(`unexpected ${JSON.stringify(String.fromCharCode(byte))}: an object is expected`, this.#here());
    }
  }

  #startWord(): void {
    if (this.#inWord) return;
    this.#inWord = true;
    this.#keep();
  }

  #keep(): void {
    this.#position = this.#here();
    this.#kept = this.#at - 1;
  }

  #item(): ObjectText {
    const text = this.#buffer.toString('utf8', this.#kept, this.#at);
    this.#kept = -1;
    return { what: 'item', text, position: this.#position };
  }

  /** false: the string goes on in the next part. */
  #skipString(buffer: Buffer, end: number): boolean {
    let at = this.#at;
    if (this.#isEscaped) at += 1;
    this.#isEscaped = false;
    for (; at < end; at += 1) {
      const byte = buffer[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) break;
    }
    this.#isEscaped = at > end;
    this.#inString = at >= end;
    this.#at = Math.min(at + 1, end);
    if (!this.#inString && this.#depth === 1 && !this.#isBetween())
      this.#keyText = buffer.toString('latin1', this.#keyStart, Math.min(this.#at, this.#keyStart + 8));
    return !this.#inString;
  }

  /** Between objects, where only white space and commas are. */
  #isBetween(): boolean {
    return this.#depth === 0 || this.#depth === this.#itemsDepth;
  }

  #open(byte: number): void {
    const isItem = this.#depth === this.#itemsDepth;
    if (this.#depth === 0 || isItem) this.#keep();
    const isItems =
      this.#itemsDepth === undefined && byte === OPEN_LIST && (this.#depth === 0 || (this.#depth === 1 && this.#isItemsKey()));
    this.#depth += 1;
    if (!isItems) return;
    this.#head = { text: this.#buffer.toString('utf8', this.#kept, this.#at), position: this.#position };
    this.#itemsDepth = this.#depth;
    this.#kept = -1;
  }

  /** Whether `"items":` stands before this bracket. */
  #isItemsKey(): boolean {
    if (this.#keyText !== ITEMS) return false;
    let at = this.#at - 2;
    while (at >= 0 && SPACES.has(this.#buffer[at] ?? 0)) at -= 1;
    return this.#buffer[at] === COLON;
  }

  *#close(byte: number): Generator<ObjectText> {
    if (this.#depth === 0) throw new TextEnd(`unexpected "${String.fromCharCode(byte)}"`, this.#here());
    const endsItems = this.#depth === this.#itemsDepth;
    if (endsItems && byte !== CLOSE_LIST) throw new TextEnd('unexpected "}": the list of objects has not ended', this.#here());
    this.#depth -= 1;
    if (endsItems) {
      this.#itemsDepth = undefined;
      this.#kept = this.#at - 1;
    } else if (this.#depth === this.#itemsDepth) yield this.#item();
    if (this.#depth === 0) yield this.#whole();
  }

  #whole(): ObjectText {
    const text = this.#buffer.toString('utf8', this.#kept, this.#at);
    const head = this.#head;
    this.#kept = -1;
    this.#head = undefined;
    this.#keyText = '';
    return head === undefined
      ? { what: 'object', text, position: this.#position }
      : { what: 'list', text: head.text + text, position: head.position };
  }
}
