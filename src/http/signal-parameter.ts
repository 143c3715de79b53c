import { isResourceSignal, isSignal, RESOURCE_SIGNALS, type ResourceSignal } from '../core/signal/signal.js';
import { UsageError } from '../errors.js';

/** `?signal=`; undefined: none is given. @throws UsageError  no workload is evicted for it */
export function signalParameter(query: URLSearchParams): ResourceSignal | undefined {
  const text = query.get('signal') ?? '';
  if (text === '') return undefined;
  if (isSignal(text) && isResourceSignal(text)) return text;
  throw new UsageError('EVICTD_API_SIGNAL', `no workload is evicted for ${text}`, { hint: `use one of ${RESOURCE_SIGNALS.join(', ')}` });
}
