import { existsSync } from "node:fs";

/** The browser that tests open reports in; who only uses the project needs none. */

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Its path, or undefined where none is installed. */
export const browser = (): string | undefined => places.find((path) => existsSync(path));

/** Debian's package of it. */
export const browserPackage = "chromium";
