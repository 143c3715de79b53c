// Ends a process so that no other one is meant, even if its number is used again, and waits for its end.
//
//   node end-process.mjs PID
import { constants } from 'node:os';
import { native } from 'evictd';

const pid = Number(process.argv[2]);
try {
  const process_ = new native.Pidfd(pid);
  const exit = new native.ProcessExit([pid], () => {
    console.log(`process ${pid} has ended`);
    exit.close();
    process_.close();
  });
  process_.signal(constants.signals.SIGKILL);
} catch (error) {
  console.error(`cannot end process ${process.argv[2]}: ${error.message}`); // ESRCH: there is none
  process.exitCode = 1;
}
