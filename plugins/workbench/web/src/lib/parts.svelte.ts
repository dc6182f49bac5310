// A list that is shown part by part: the next part is asked for below it, and what is shown is asked for again after a change.

/** So many rows the engine gives at once. */
const MOST = 1000;

export interface Part<Row> {
  items: Row[];
  total: number;
}
type Ask<Row> = (at: { limit: number; offset: number }) => Promise<Part<Row>>;

export class Parts<Row extends { id: string }> {
  items = $state.raw<Row[]>([]);
  /** How many there are; null: not known yet. */
  total = $state<number | null>(null);
  private round = 0;
  /** So many are wanted. */
  private wanted: number;

  constructor(
    private readonly ask: Ask<Row>,
    private readonly size = 100,
  ) {
    this.wanted = size;
  }

  get isWhole(): boolean {
    return this.total === null || this.items.length >= this.total;
  }

  /** Ask again for as many as are shown. A newer question wins. */
  load = () => this.fill([]);

  /** Ask for the first part of another list. */
  begin = () => {
    this.wanted = this.size;
    return this.load();
  };

  more = () => {
    this.wanted = this.items.length + this.size;
    return this.fill(this.items);
  };

  private async fill(items: Row[]): Promise<void> {
    const round = ++this.round;
    let offset = items.length;
    let total = Infinity;
    while (offset < Math.min(this.wanted, total)) {
      const found = await this.ask({ limit: Math.min(MOST, this.wanted - offset), offset });
      if (round !== this.round) return;
      // What came before these meanwhile moved some that are shown already.
      const known = new Set(items.map((one) => one.id));
      items = [...items, ...found.items.filter((one) => !known.has(one.id))];
      offset += found.items.length;
      total = found.items.length > 0 ? found.total : offset;
      this.total = found.total;
    }
    this.items = items;
  }
}
