/** First in, first out. `size` counts what was taken too, which is the defect that a test finds. */
export class Queue {
  #items = [];
  #at = 0;

  get size() {
    return this.#items.length;
  }

  put(item) {
    this.#items.push(item);
  }

  take() {
    return this.#items[this.#at++];
  }
}
