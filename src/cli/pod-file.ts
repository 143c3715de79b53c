import { closeSync, openSync, readSync } from 'node:fs';
import { EvictdError } from '../errors.js';
import { parseJson } from '../kubernetes/json.js';
import { workloadOfPod } from '../kubernetes/pod.js';
import type { Workload } from '../core/workload.js';

/** More than the API server stores of one object. */
const MAX_BYTES = 4 * 1024 * 1024;
const STANDARD_INPUT = 0;

/**
 * The pod in a file, '-' for standard input, v1.Pod as JSON. Read without Node's streams: on a node without a process id to spare no thread could be
 * made for them.
 *
 * @throws EvictdError  it cannot be read, or holds no pod
 */
export function readPod(file: string): Workload {
  const from = file === '-' ? 'standard input' : file;
  let text: string;
  try {
    text = readText(file);
  } catch (cause) {
    if (cause instanceof EvictdError) throw cause;
    throw new EvictdError('EVICTD_POD_UNREADABLE', `the pod cannot be read from ${from}: ${messageOf(cause)}`, { cause });
  }
  let document: unknown;
  try {
    document = parseJson(text);
  } catch (cause) {
    const what = text.trim() === '' ? 'nothing' : `no JSON: ${messageOf(cause)}`;
    throw new EvictdError('EVICTD_POD_UNREADABLE', `${from} holds ${what}`, {
      hint: 'kubectl get pod NAME -o json writes what is needed',
      cause,
    });
  }
  return workloadOfPod(document);
}

function readText(file: string): string {
  const descriptor = file === '-' ? STANDARD_INPUT : openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.alloc(64 * 1024);
      const read = readSync(descriptor, chunk, 0, chunk.length, null);
      if (read === 0) return Buffer.concat(chunks).toString('utf8');
      length += read;
      if (length > MAX_BYTES) throw new EvictdError('EVICTD_POD_UNREADABLE', `${file} is larger than a pod can be: more than 4 MiB`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    if (file !== '-') closeSync(descriptor);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
