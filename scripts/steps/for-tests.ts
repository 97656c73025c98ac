import { existsSync } from "node:fs";

/** What tests use on this machine and whoever only uses the project doesn't need. */

const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of the browser that tests open reports in, or undefined where none is installed. */
export const browser = (): string | undefined => browsers.find((path) => existsSync(path));

/** Debian's package of it. */
export const browserPackage = "chromium";

/** Debian's packages of what is missing: the browser, and fio, whose answers are held against our options. */
export const testPackages = (): string[] => [
  ...(browser() === undefined ? [browserPackage] : []),
  ...(existsSync("/usr/bin/fio") ? [] : ["fio"]),
];
