// Lists that change while somebody looks at them: what stays keeps its element, and the focus with it.

/** Make the children of `list` show `lines` in order. `create(line)` and `update(element, line)` do the showing. */
export function reconcile(list, lines, key, create, update) {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const there = new Map([...list.children].map((element) => [element.dataset.key, element]));
  lines.forEach((line, at) => {
    const name = key(line);
    let element = there.get(name);
    there.delete(name);
    if (!element) {
      element = create(line);
      element.dataset.key = name;
    }
    update(element, line);
    if (list.children[at] !== element) list.insertBefore(element, list.children[at] ?? null);
  });
  for (const element of there.values()) element.remove();
  if (focused && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

/** The first few lines, and a button for the rest. */
export class Folded {
  #open = false;

  constructor(button, few, again) {
    this.button = button;
    this.few = few;
    button.addEventListener("click", () => {
      this.#open = !this.#open;
      again();
    });
  }

  of(lines) {
    this.button.hidden = lines.length <= this.few;
    this.button.textContent = this.#open ? "Show fewer" : `Show all ${lines.length}`;
    this.button.ariaExpanded = String(this.#open);
    return this.#open ? lines : lines.slice(0, this.few);
  }
}
