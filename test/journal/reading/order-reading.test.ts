import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringPath } from '../../../src/journal/journal-ring.js';
import { OrderFile, orderFilePath } from '../../../src/journal/order-file.js';
import { openJournal } from '../../../src/journal/reading/journal-reader.js';
import { addLinesToRing } from '../../../src/journal/ring-recovery.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { carryOut } from '../carried-out-order.js';

test('a standing order that was carried out is a record of the journal until evictd has made one of it', async () => {
  const directory = temporaryDirectory();
  const read = async (): Promise<string[]> => {
    const journal = await openJournal({ stateDirectory: join(directory, 'state'), runtimeDirectory: directory });
    await journal.close();
    expect(journal.problems).toEqual([]);
    return journal.recent.map((line) => (JSON.parse(line.toString()) as { message: string }).message);
  };
  const ring = ringPath(directory, 'machine');
  addLinesToRing(ring, ['{"time":"t","type":"decision","decision":1,"message":"before"}']);
  const order = new OrderFile(orderFilePath(directory, 'machine'));
  const line = '{"time":"t","type":"decision","decision":2,"message":"the order"}';
  carryOut(order.path, order.bytesOf({ line, state: '', atLeast: 1_000, limit: '100' }));
  expect(await read()).toEqual(['before', 'the order']);
  addLinesToRing(ring, ['{"time":"t","type":"decision","decision":2,"message":"its record"}']);
  expect(await read()).toEqual(['before', 'its record']);
  order.close();
});
