import puppeteer, { type Browser } from "puppeteer-core";
import { browser, browserPackage } from "../../scripts/steps/for-tests.ts";

/** The browser that reports and comparisons are opened in. */

const executable = browser();

/** Why tests that need it are skipped; false where it is there. */
export const skip =
  executable === undefined
    ? `no browser to open a page in: npm test brings one, or: apt-get install ${browserPackage}`
    : false;

/** It asks nobody for anything by itself. */
export const launch = (userDataDir: string): Promise<Browser> =>
  puppeteer.launch({
    executablePath: executable ?? "",
    userDataDir,
    headless: true,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
