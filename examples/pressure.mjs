// Prints a line each time that tasks have waited 20 ms for memory within 2 s.
//
//   node pressure.mjs [SECONDS]
import { setTimeout } from 'node:timers/promises';
import { native } from 'evictd';

const trigger = new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: 20_000, windowUs: 2_000_000 }, (wake) => {
  console.log(wake & native.WAKE.GONE ? 'the trigger is gone' : 'tasks wait for memory');
});
console.log(`${trigger.status().mechanism} on ${trigger.status().target}`);

await setTimeout(Number(process.argv[2] ?? 60) * 1000);
trigger.close(); // a live watch keeps the process alive
