import { Directive, directive } from 'lit/directive.js';

/** Sets custom properties on an element through its style object, which the content security policy allows. */
class Place extends Directive {
  render() { return undefined; }

  update(part, [values]) {
    for (const [name, value] of Object.entries(values)) part.element.style.setProperty(name, value);
    return undefined;
  }
}

export const place = directive(Place);
