// What WebTypesTest tells the type checker about Lit and about events.
declare module 'lit' {
  export class LitElement extends HTMLElement {
    static properties: object;
    connectedCallback(): void;
    disconnectedCallback(): void;
    createRenderRoot(): Element | ShadowRoot;
    requestUpdate(): void;
    willUpdate(changed: Map<string, unknown>): void;
    updated(changed: Map<string, unknown>): void;
    render(): unknown;
    readonly updateComplete: Promise<boolean>;
  }
  export const html: (strings: TemplateStringsArray, ...values: unknown[]) => object;
  export const svg: typeof html;
  export const nothing: unique symbol;
  export function render(value: unknown, container: Element): void;
}
declare module 'lit/directive.js' {
  export class Directive { constructor(part: unknown); }
  export function directive(type: unknown): (...values: any[]) => object;
}
declare module 'lit/directives/repeat.js' {
  export function repeat<T>(items: Iterable<T>, key: (item: T) => unknown, template: (item: T, index: number) => unknown): object;
}
/** The target of an event is the element that the template has bound it to. */
interface EventTarget { [member: string]: any }
interface Element { [member: string]: any }
interface Event { detail: any }
