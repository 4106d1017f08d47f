// Where the page is: everything that a link should show is in the URL.
const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

class Route extends EventTarget {
  path = [];
  query = new URLSearchParams();

  constructor() {
    super();
    this.#read();
    addEventListener('popstate', () => this.#changed());
    document.addEventListener('click', (event) => {
      const link = event.target.closest?.('a[href^="/ui/"]');
      if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.go(link.getAttribute('href'));
    });
  }

  #read() {
    this.path = location.pathname
      .replace(/^\/ui\/?/, '')
      .split('/')
      .filter(Boolean)
      .map(decoded);
    this.query = new URLSearchParams(location.search);
  }

  #changed() {
    this.#read();
    this.dispatchEvent(new Event('change'));
  }

  go(url) {
    if (url === location.pathname + location.search) return;
    history.pushState(null, '', url);
    this.#changed();
  }

  get(name) {
    return this.query.get(name);
  }

  /** Changes parameters of this page; null removes one. */
  set(values, replace = false) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(values)) {
      if (value === null || value === '') query.delete(name);
      else query.set(name, value);
    }
    const text = query.toString();
    history[replace ? 'replaceState' : 'pushState'](null, '', location.pathname + (text ? `?${text}` : ''));
    this.#changed();
  }
}

export const route = new Route();
