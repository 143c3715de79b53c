import type { ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { respond } from './bounded-server.js';

/** What the build makes of src/page/: one file without links to others. */
interface StatusPage {
  readonly html: string;
  /** Permits what is in the page, by hashes, and requests to this server. */
  readonly contentSecurityPolicy: string;
}

/** Read for each request: a page that no browser asks for takes no memory. */
export async function answerPage(response: ServerResponse, file: string): Promise<void> {
  const { html, contentSecurityPolicy } = JSON.parse(await readFile(file, 'utf8')) as StatusPage;
  response.setHeader('Content-Security-Policy', contentSecurityPolicy);
  respond(response, 200, html, 'text/html; charset=utf-8');
}
