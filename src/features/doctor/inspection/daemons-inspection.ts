import type { DaemonFacts, DaemonsFacts } from '../../../host/facts/daemon-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';
import type { DoctorReaders } from '../../../host/select.js';
import type { Timeouts } from '../../../node/timeouts.js';
import { kubeletMemory } from './kubelet-inspection.js';

const TIMEOUT_MS = 1_800;

export async function examineDaemons(doctor: DoctorReaders, timeouts: Timeouts): Promise<DaemonsFacts> {
  const found = doctor.findDaemons().map(async (seen): Promise<DaemonFacts> => {
    const silent = { unseen: 'no answer in time' };
    const daemon = (await timeouts.within(TIMEOUT_MS, (signal) => doctor.readDaemon(seen, signal))) ?? {
      ...seen,
      arguments: silent,
      settings: silent,
    };
    const { name, pid, arguments: args } = daemon;
    const isKubelet = name === 'kubelet' && !isUnseen(args);
    return {
      ...daemon,
      memory: isKubelet ? await timeouts.within(TIMEOUT_MS, () => kubeletMemory(`/proc/${String(pid)}/root`, args)) : undefined,
    };
  });
  return { found: await Promise.all(found), hidden: doctor.hiddenProcesses() };
}
