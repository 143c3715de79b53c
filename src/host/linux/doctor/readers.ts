import { readCgroup } from './cgroup.js';
import { readClock } from './clock.js';
import { findDaemons, hiddenProcesses, readDaemon } from './daemons.js';
import { readDirectory } from './directory.js';
import { readInstance } from './instance.js';
import { readKernel } from './kernel.js';
import { readKernelLog } from './kernel-log.js';
import { readMemory } from './memory.js';
import { readOom } from './oom.js';
import { readPressure } from './pressure.js';
import { readService } from './service.js';
import { readSubject } from './subject.js';

/** What `doctor` asks of Linux: a file a subject, nothing is changed. */
export const doctorReaders = {
  readCgroup,
  readClock,
  findDaemons,
  hiddenProcesses,
  readDaemon,
  readDirectory,
  readInstance,
  readKernel,
  readKernelLog,
  readMemory,
  readOom,
  readPressure,
  readService,
  readSubject,
};

export type DoctorReaders = typeof doctorReaders;
