import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A moment between a decision and its outcome: before, during or after an action of evictd. `ring`, `state`: records in
 * the runtime directory; `ring:drained`: the note there that the state directory has the outcome; `journal`: the file
 * in the state directory; `TERM`, `KILL`: the signals.
 */
export interface Moment {
  readonly at:
    | 'ring:decision'
    | 'ring:escalation'
    | 'ring:outcome'
    | 'ring:drained'
    | 'state:decided'
    | 'state:terminating'
    | 'state:dying'
    | 'state:over'
    | 'journal:decision'
    | 'journal:outcome'
    | 'TERM'
    | 'KILL';
  readonly when: 'before' | 'in the middle of' | 'after';
}

/**
 * Loaded into evictd before its own code. It wraps the file calls of Node and the calls of the addon, and sends SIGKILL
 * to its own process at the chosen moment. evictd itself is unchanged.
 */
const HOOK = `
  const fs = require('node:fs');
  const promises = require('node:fs/promises');
  const [at, ...words] = process.env.EVICTD_TEST_DIES.split(' ');
  const when = words.join(' ');
  const die = () => process.kill(process.pid, 'SIGKILL');
  const around = (point, act, half) => {
    if (point !== at) return act();
    if (when === 'before') die();
    if (when === 'in the middle of') { half(); die(); }
    const result = act();
    die();
    return result;
  };

  const paths = new Map();
  const { openSync, writeSync } = fs;
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    return fd;
  };
  let isInFlight = false;
  let isOver = false;
  const pointOf = (path, text, position) => {
    if (/\\/journal-/.test(path)) {
      if (position === 0) return isOver ? 'ring:drained' : '';
      const type = /"type":"(\\w+)"/.exec(text)?.[1];
      isOver ||= type === 'outcome';
      return 'ring:' + type;
    }
    if (!/\\.state/.test(path)) return '';
    const phase = /"phase":"(\\w+)"/.exec(text)?.[1];
    const wasInFlight = isInFlight;
    isInFlight = phase !== undefined;
    if (phase === undefined) return wasInFlight ? 'state:over' : '';
    const isSent = text.includes(phase === 'dying' ? '"sent":"killNs"' : '"sent":"signalNs"');
    return isSent ? 'state:' + phase : 'state:decided';
  };
  fs.writeSync = (fd, buffer, offset, length, position) => {
    const point = pointOf(paths.get(fd) ?? '', buffer.toString('latin1', offset, offset + length), position);
    return around(point, () => writeSync(fd, buffer, offset, length, position), () => writeSync(fd, buffer, offset, length >> 1, position));
  };

  const [, recorded = 'nothing'] = /^journal:(.*)/.exec(at) ?? [];
  const line = new RegExp('^.*"type":"' + recorded + '"', 'm');
  const { open } = promises;
  promises.open = async (path, flags, mode) => {
    const file = await open(path, flags, mode);
    if (!/journal\\.jsonl/.test(String(path))) return file;
    for (const name of ['appendFile', 'write']) {
      const write = file[name].bind(file);
      file[name] = async (data, ...rest) => {
        const text = String(data);
        // One write has all records that wait: where the directory was slow, the decision and its outcome.
        const begin = text.search(line);
        if (begin < 0) return write(data, ...rest);
        const end = text.indexOf('\\n', begin) + 1;
        const done = text.slice(0, { before: begin, after: end }[when] ?? (begin + end) >> 1);
        if (done !== '') await write(done);
        die();
      };
    }
    return file;
  };
  require('node:module').syncBuiltinESMExports();

  const { dlopen } = process;
  process.dlopen = (module, ...rest) => {
    dlopen(module, ...rest);
    const { CgroupHandle } = module.exports;
    if (!CgroupHandle) return;
    const names = { 9: 'KILL', 15: 'TERM' };
    module.exports.CgroupHandle = class {
      constructor(...given) {
        return new Proxy(new CgroupHandle(...given), {
          get: (handle, key) => {
            const method = handle[key];
            if (typeof method !== 'function') return method;
            return (...given) => around(key === 'kill' ? 'KILL' : key === 'signal' ? names[given[0]] : '', () => method.apply(handle, given));
          },
        });
      }
    };
  };
`;

/** The command before evictd that kills it at this moment. */
export function dyingAt(directory: string, { at, when }: Moment): readonly string[] {
  const hook = join(directory, 'hook.cjs');
  writeFileSync(hook, HOOK);
  return ['env', `NODE_OPTIONS=--require ${hook}`, `EVICTD_TEST_DIES=${at} ${when}`];
}
