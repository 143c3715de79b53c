import type { StatusDocument } from '../src/features/status/status-document.js';

const PERIOD_MS = 5_000;

/** Asks for the status again and again while the page is visible. */
export function follow(show: (status: StatusDocument) => void, lost: (reason: string) => void): void {
  let timer: number | undefined;
  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      const answer = await fetch('api/v1/status');
      const json = (await answer.json()) as StatusDocument | { readonly error: { readonly message: string } };
      if ('error' in json) lost(json.error.message);
      else show(json);
    } catch {
      lost('evictd does not answer. Trying again.');
    }
    timer = window.setTimeout(() => void ask(), PERIOD_MS);
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') void ask();
  });
  void ask();
}
