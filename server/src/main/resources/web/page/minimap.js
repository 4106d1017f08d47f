import { html } from 'lit';
import { Part } from '../part/base.js';

const WIDTH = 176;
const HEIGHT = 120;

/** A large graph in small, with the part that is in view. A press or a drag moves the view; keys scroll the graph itself. */
class Minimap extends Part {
  static properties = { graph: { attribute: false }, families: { attribute: false }, view: { attribute: false } };

  #scale() {
    return Math.min(WIDTH / this.graph.width, HEIGHT / this.graph.height);
  }

  #move(event) {
    if (!event.buttons) return;
    const scale = this.#scale();
    const { left, top } = event.target.getBoundingClientRect();
    this.dispatchEvent(
      new CustomEvent('move', { detail: { x: (event.clientX - left) / scale, y: (event.clientY - top) / scale } }),
    );
  }

  updated() {
    const canvas = /** @type {HTMLCanvasElement} */ (this.querySelector('canvas'));
    const scale = this.#scale();
    const style = getComputedStyle(this);
    const dense = devicePixelRatio || 1;
    const [across, down] = [Math.max(24, this.graph.width * scale), Math.max(24, this.graph.height * scale)];
    canvas.width = across * dense;
    canvas.height = down * dense;
    canvas.style.width = `${across}px`;
    canvas.style.height = `${down}px`;
    const paint = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    paint.scale(dense, dense);
    const { boxes, box_width: width, box_height: height } = this.graph;
    boxes.id.forEach((_, i) => {
      paint.fillStyle = style.getPropertyValue(`--${this.families[i]}`);
      paint.fillRect(boxes.x[i] * scale, boxes.y[i] * scale, Math.max(2, width * scale), Math.max(1.5, height * scale));
    });
    const { left, top, right, bottom } = this.view;
    paint.strokeStyle = style.getPropertyValue('--accent');
    paint.lineWidth = 1.5;
    paint.strokeRect(
      Math.max(1, left * scale),
      Math.max(1, top * scale),
      Math.min(across - 2, (right - left) * scale),
      Math.min(down - 2, (bottom - top) * scale),
    );
  }

  render() {
    return html`<canvas
      class="minimap"
      role="img"
      aria-label="The whole graph in small"
      @pointerdown=${(event) => this.#move(event)}
      @pointermove=${(event) => this.#move(event)}
    ></canvas>`;
  }
}
customElements.define('k-minimap', Minimap);
