const NOT_FOUND = 5;
const DEADLINE_EXCEEDED = 4;

/** Treats "not found" as success: what is gone need not be removed. */
export async function unlessGone(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === NOT_FOUND;
}

/** The runtime's message without gRPC's words around it. */
export function runtimeMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, details } = error as Error & { readonly code?: unknown; readonly details?: unknown };
  if (code === DEADLINE_EXCEEDED) return 'no answer in time';
  const said = typeof details === 'string' && details !== '' ? details : error.message;
  return said.replace(/ Resolution note: *$/, '');
}
