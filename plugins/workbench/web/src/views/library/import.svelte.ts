// An import from the browser: part after part, each a step that can be undone.
import { api, ask, type Schemas } from '$lib/api/client';
import { takeBack } from '$lib/steps.svelte';
import { inParts, type Given } from './files';

export class Import {
  done = $state(0);
  busy = $state(true);
  pages = $state(0);
  layouts = $state(0);
  refused = $state<Schemas['NotTaken'][]>([]);
  readonly total: number;
  private steps: string[] = [];
  private stopping = new AbortController();

  constructor(
    private given: Given[],
    private folder: string | null,
  ) {
    this.total = given.length;
  }

  async run(): Promise<void> {
    try {
      for (const part of inParts(this.given)) {
        if (this.stopping.signal.aborted) break;
        await this.send(part);
        this.done += part.length;
      }
    } finally {
      this.busy = false;
    }
  }

  stop = () => this.stopping.abort();

  async undo(): Promise<void> {
    await takeBack([...this.steps].reverse());
    this.steps = [];
  }
  get undoable() {
    return this.steps.length > 0;
  }

  private async send(part: Given[]): Promise<void> {
    const body = new FormData();
    for (const { path, file } of part) body.append('files', file, path);
    if (this.folder !== null) body.append('parent_id', this.folder);
    const answer = await ask(
      api.POST('/api/documents/import-batch', {
        body: body as unknown as { files: string[] },
        bodySerializer: () => body,
        signal: this.stopping.signal,
      }),
    );
    this.steps.push(answer.audit_id);
    this.pages += answer.documents.length;
    this.layouts += answer.passes.length;
    this.refused.push(...answer.refused, ...answer.unpaired);
  }
}
