import { expect, test } from 'vitest';
import { amountOf, amountOfBytes, amountOfResource } from '../../../src/core/quantity/amount.js';

test.each<[bytes: bigint, text: string]>([
  [0n, '0B'],
  [1n, '1B'],
  [1023n, '1023B'],
  [1024n, '1KiB'],
  [1536n, '1.5KiB'],
  [1100n, '1.07KiB'],
  [12_345_678n, '11.7MiB'],
  [104_857_599n, '99.9MiB'],
  [104_857_600n, '100MiB'],
  [1_073_741_823n, '1023MiB'],
  [(1n << 63n) - 1n, '7.99EiB'],
  [1n << 80n, '1048576EiB'],
  [-3_758_096_384n, '-3.5GiB'],
])('%s bytes as text', (bytes, text) => {
  expect(amountOfBytes(bytes)).toBe(text);
});

test('inodes and processes are printed as counts', () => {
  expect(amountOf('nodefs.inodesFree', 2048n)).toBe('2048 inodes');
  expect(amountOf('pid.available', 12n)).toBe('12 processes');
  expect(amountOf('pid.available', 1n)).toBe('1 process');
  expect(amountOf('nodefs.inodesFree', 0n)).toBe('0 inodes');
});

test('an amount of a resource is printed in the unit of the resource', () => {
  expect(amountOfResource('memory', 2048n)).toBe('2KiB');
  expect(amountOfResource('ephemeral-storage', 2048n)).toBe('2KiB');
  expect(amountOfResource('inodes', 2048n)).toBe('2048 inodes');
  expect(amountOfResource('inodes', 1n)).toBe('1 inode');
  expect(amountOfResource('pids', 12n)).toBe('12 processes');
});
