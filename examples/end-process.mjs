// Ends a process so that no other one is meant, even if its number is used again, and waits for its end.
//
//   node end-process.mjs PID
import { constants } from 'node:os';
import { native } from 'evictd';

const pid = Number(process.argv[2]);
const process_ = new native.Pidfd(pid); // throws ESRCH if there is none

const exit = new native.ProcessExit([pid], () => {
  console.log(`process ${pid} has ended`);
  exit.close();
  process_.close();
});
process_.signal(constants.signals.SIGKILL);
