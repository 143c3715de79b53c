import type { ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { respond } from './bounded-server.js';

/** What the build makes of src/page/: one file without links to others. */
interface PageFile {
  readonly html: string;
  /** Permits what is in the page, by hashes, and requests to this server. */
  readonly contentSecurityPolicy: string;
}

/** The page. Read at the first request: without one it takes no memory. Then kept: requests in a loop cost little. */
export class StatusPage {
  #read: { readonly html: Buffer; readonly contentSecurityPolicy: string } | undefined;

  constructor(private readonly file: string) {}

  /** Rejects while the file cannot be read. */
  async answer(response: ServerResponse): Promise<void> {
    if (this.#read === undefined) {
      const { html, contentSecurityPolicy } = JSON.parse(await readFile(this.file, 'utf8')) as PageFile;
      this.#read = { html: Buffer.from(html), contentSecurityPolicy };
    }
    const { html, contentSecurityPolicy } = this.#read;
    response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    respond(response, 200, html, 'text/html; charset=utf-8');
  }
}
