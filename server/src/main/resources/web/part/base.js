import { LitElement } from 'lit';

/** An element in the light DOM, so that labels, ids of ARIA and styles reach across elements. */
export class Part extends LitElement {
  #watched = [];

  createRenderRoot() {
    return this;
  }

  /** An element that has left the page reads nothing any more, though an update of it was asked for before. */
  shouldUpdate() {
    return this.isConnected;
  }

  /** Renders again when the store changes, while this element is on the page. */
  watch(store, type = 'change', act = () => this.requestUpdate()) {
    this.#watched.push([store, type, act]);
    if (this.isConnected) store.addEventListener(type, act);
  }

  connectedCallback() {
    super.connectedCallback();
    this.#watched.forEach(([store, type, act]) => store.addEventListener(type, act));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#watched.forEach(([store, type, act]) => store.removeEventListener(type, act));
  }
}
