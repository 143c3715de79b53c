import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { isUnrecorded, OrderFile, orderFilePath, orderIn } from '../../src/journal/order-file.js';
import { addLinesToRing } from '../../src/journal/ring-recovery.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { carryOut } from './carried-out-order.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = temporaryDirectory();
  path = orderFilePath(directory, 'machine');
});

const RECORD = { line: '{"type":"decision","decision":3,"available":99}', state: 'saved', atLeast: 1_000, limit: '100' };

test('an order that was carried out is read by the next evictd, with the values at that moment, until it is cleared', () => {
  const file = new OrderFile(path);
  expect(file.found).toBeUndefined();
  carryOut(path, file.bytesOf(RECORD));
  file.close();
  const next = new OrderFile(path);
  expect(next.found).toEqual({
    ...RECORD,
    line: '{"type":"decision","decision":3,"available":79,"expectedBytes":40}',
    crossedAtNs: 5n,
    decidedAtNs: 7n,
    node: 1_020,
    value: 40,
  });
  expect(orderIn(path)).toEqual(next.found);
  next.clear();
  next.close();
  expect(orderIn(path)).toBeUndefined();
});

test('memory that stays after the end of the workload is not expected to be freed', () => {
  const file = new OrderFile(path);
  carryOut(path, file.bytesOf({ ...RECORD, stays: 15 }));
  file.close();
  expect(orderIn(path)?.line).toContain('"expectedBytes":25');
});

test('an order that was only prepared, or whose record is torn, is not read', () => {
  const file = new OrderFile(path);
  const bytes = file.bytesOf(RECORD);
  carryOut(path, bytes, 0n);
  expect(orderIn(path)).toBeUndefined();
  const torn = Buffer.from(bytes ?? []);
  torn.fill(0, 40);
  carryOut(path, torn);
  expect(orderIn(path)).toBeUndefined();
  file.close();
});

test('an order is unrecorded until the ring has a record of its decision, of whatever text', () => {
  const ring = join(directory, 'journal-machine');
  expect(isUnrecorded(RECORD.line, ring)).toBe(true);
  addLinesToRing(ring, ['{"time":"t","type":"decision","decision":2}']);
  expect(isUnrecorded(RECORD.line, ring)).toBe(true);
  addLinesToRing(ring, ['{"time":"t","type":"decision","decision":3,"more":"the ranking"}']);
  expect(isUnrecorded(RECORD.line, ring)).toBe(false);
});

test('an order of another shape is none, although its checksum is right', () => {
  const file = new OrderFile(path);
  carryOut(path, file.bytesOf({ ...RECORD, limit: 'all of it' }));
  file.close();
  expect(orderIn(path)).toBeUndefined();
});

test('the file has its full size from the start, and a record that does not fit is refused', () => {
  const file = new OrderFile(path);
  const { size, blocks } = statSync(path);
  expect([size, blocks * 512 >= size]).toEqual([65_536, true]);
  expect(file.bytesOf({ ...RECORD, state: 'x'.repeat(65_536) })).toBeUndefined();
  file.close();
  expect(orderIn(join(directory, 'none'))).toBeUndefined();
});

test('a file of another size keeps its order, and a link is replaced, not followed', () => {
  writeFileSync(path, Buffer.alloc(100));
  new OrderFile(path).close();
  expect(statSync(path).size).toBe(65_536);
  const elsewhere = join(directory, 'elsewhere');
  writeFileSync(elsewhere, 'untouched');
  rmSync(path);
  symlinkSync(elsewhere, path);
  new OrderFile(path).close();
  expect(readFileSync(elsewhere, 'utf8')).toBe('untouched');
});
