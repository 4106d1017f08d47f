// What a person chose for this browser: theme, time zone, single-key shortcuts. Never a key or anything of the API.
const NAME = 'keelson.prefs';
const defaults = { theme: 'auto', zone: Intl.DateTimeFormat().resolvedOptions().timeZone, shortcuts: true };

function read() {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(NAME) ?? '{}') };
  } catch {
    return { ...defaults };
  }
}

class Prefs extends EventTarget {
  values = read();

  set(name, value) {
    this.values = { ...this.values, [name]: value };
    try {
      localStorage.setItem(NAME, JSON.stringify(this.values));
    } catch {
      /* a private window keeps nothing */
    }
    this.apply();
    this.dispatchEvent(new Event('change'));
  }

  apply() {
    const dark =
      this.values.theme === 'dark' ||
      (this.values.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  }
}

export const prefs = new Prefs();
prefs.apply();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => prefs.apply());
