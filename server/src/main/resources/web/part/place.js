import { Directive, directive } from 'lit/directive.js';

/** Sets custom properties on an element through its style object, which the content security policy allows. */
class Place extends Directive {
  render() {
    return undefined;
  }

  update(part, [values]) {
    for (const [name, value] of Object.entries(values)) part.element.style.setProperty(name, value);
    return undefined;
  }
}

export const place = directive(Place);

/** As a popover opens: below the button that opens it, their right edges in line, and within the window. */
export function beside(event) {
  const menu = event.target;
  if (event.newState !== 'open') return;
  const button = document.querySelector(`[popovertarget="${menu.id}"]`).getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  menu.style.setProperty('top', `${button.bottom + 4}px`);
  menu.style.setProperty('right', `${Math.max(8, Math.min(width - button.right, width - 248))}px`);
}
