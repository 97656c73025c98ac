/** HTML by a tagged template that escapes whatever is put in; only Markup, made the same way, is left as it is. */

export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => signs[sign] ?? sign);

export type Put = string | number | Markup | readonly Put[];

const put = (value: Put): string => {
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(put).join("");
  return escaped(String(value));
};

export const markup = (strings: TemplateStringsArray, ...values: readonly Put[]): Markup =>
  new Markup(strings.reduce((text, string, n) => text + put(values[n - 1] ?? "") + string));

/** Nothing, where there is nothing to show. */
export const nothing = new Markup("");

/** Data in a script element: nothing in it can end the element. */
export const data = (id: string, value: unknown): Markup =>
  new Markup(
    `<script type="application/json" id="${escaped(id)}">${JSON.stringify(value).replaceAll("<", "\\u003c")}</script>`,
  );

/** A relative link's path: a file's name can be no scheme and no markup. */
export const href = (path: string): string => `./${path.split("/").map(encodeURIComponent).join("/")}`;
