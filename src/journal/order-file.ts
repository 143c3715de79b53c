import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { checkedJson } from '../storage/checked-json.js';
import { putRecord, RECORD_HEADER_BYTES, recordAt } from '../storage/crc-record.js';
import { openFixedFile, openExistingFile, type FixedFile } from '../storage/fixed-file.js';
import { jsonText } from '../core/name/json-text.js';
import { attempt } from '../errors.js';
import type { OrderLeft } from '../core/decide/standing-order.js';
import { decisionsIn } from './journal-ring.js';

const RECORD = 0x4f445645; // 'EVDO'
const SIZE = 64 * 1024;
/** The native layer writes the record there (native/kill/linux/standing_order.h). */
const RECORD_AT = 64;

export function orderFilePath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `order-${instance}`);
}

/** What is written for a candidate of an order. */
export interface OrderRecord {
  /** The line of the journal. `available` and `expectedBytes` are those of the native layer when it is found. */
  readonly line: string;
  /** The state with the eviction in flight, as the state file has it. */
  readonly state: string;
  /** The values to which the node's is compared: the native layer's and the threshold's. */
  readonly atLeast: number;
  readonly limit: string;
  /** The part of the victim's value that stays. Left out: none. */
  readonly stays?: number;
}

/** An order that the native layer carried out, and that no journal has yet. */
export interface FoundOrder extends OrderRecord, OrderLeft {}

/**
 * The ring of the native layer, with one place: it writes the record of an order there before the signal, because only
 * one thread may write to the journal's ring. evictd copies it to the journal and clears it.
 *
 * 64 bytes (when the threshold was crossed, when the order was carried out, the values of node and victim), then a
 * record (crc-record.ts). The first 8 bytes are 0: there is none.
 */
export class OrderFile {
  readonly path: string;
  readonly #file: FixedFile;
  /** Left by the run before. */
  readonly found: FoundOrder | undefined;

  /** Throws Node's errors. */
  constructor(path: string) {
    this.path = path;
    const standing = openExistingFile(path);
    this.found = standing && foundIn(standing.content);
    this.#file = openFixedFile(path, SIZE, standing, (file) => {
      if (this.found && standing) file.write(standing.content, standing.content.length, 0);
    });
  }

  /** The bytes of a record; undefined: it is too long. */
  bytesOf(record: OrderRecord): Buffer | undefined {
    const text = jsonText(record);
    const bytes = Buffer.alloc(RECORD_HEADER_BYTES + Buffer.byteLength(text));
    if (RECORD_AT + bytes.length > SIZE) return undefined;
    putRecord(bytes, RECORD, 0n, text);
    return bytes;
  }

  /** The journal has the record. Throws Node's errors. */
  clear(): void {
    this.#file.write(Buffer.alloc(RECORD_AT), RECORD_AT, 0);
  }

  close(): void {
    this.#file.close();
  }
}

/** The number of the decision in the line of an order. */
export function decisionOf(line: string): number {
  return (JSON.parse(line) as { readonly decision: number }).decision;
}

/**
 * Whether the ring of its evictd, which may be running, has no record of an order: evictd is killed, or read, between the
 * record and `clear`. Throws Node's errors.
 *
 * @param line  read before the ring is
 */
export function isUnrecorded(line: string, ring: string): boolean {
  return decisionOf(line) > decisionsIn(ring).last;
}

/** The order in a file that may be in use. Throws Node's errors. */
export function orderIn(path: string): FoundOrder | undefined {
  return existsSync(path) ? foundIn(readFileSync(path)) : undefined;
}

function orderRecord(): z.ZodMiniType<OrderRecord> {
  return z.object({
    ...{ line: z.string(), state: z.string(), atLeast: z.number() },
    ...{ limit: z.string().check(z.regex(/^\d{1,20}$/)), stays: z.optional(z.number()) },
  }) as z.ZodMiniType<OrderRecord>;
}

function foundIn(content: Buffer): FoundOrder | undefined {
  if (content.length < RECORD_AT || content.readBigUInt64LE(0) === 0n) return undefined;
  const record = recordAt(content, RECORD_AT, RECORD);
  if (record === undefined) return undefined;
  const prepared = attempt(() => checkedJson(record.text, orderRecord()));
  if (prepared === undefined) return undefined;
  const [node, value] = [content.readDoubleLE(16), content.readDoubleLE(24)];
  const seen = { available: Number(prepared.limit) - 1 - (node - prepared.atLeast), expectedBytes: value - (prepared.stays ?? 0) };
  return {
    ...prepared,
    line: jsonText({ ...(JSON.parse(prepared.line) as object), ...seen }),
    crossedAtNs: content.readBigUInt64LE(0),
    decidedAtNs: content.readBigUInt64LE(8),
    node,
    value,
  };
}
