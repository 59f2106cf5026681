// Connects Puppeteer to several endpoints at once. Arguments: JSON of [{endpoint, page, library}]. Each opens its page;
// after a line on standard input, each prints what it sees, and disconnects.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.env.CLIENT_MODULES);
const clients = await Promise.all(
  JSON.parse(process.argv[2]).map(async ({ endpoint, page: url, library }) => {
    const { default: puppeteer } = require(library);
    const browser = await puppeteer.connect({ browserWSEndpoint: endpoint });
    const page = await browser.newPage();
    await page.goto(url);
    return { browser, page };
  }),
);
console.log("open");
await new Promise((resolve) => createInterface({ input: process.stdin }).once("line", resolve));
const seen = await Promise.all(
  clients.map(async ({ browser, page }) => ({
    title: await page.title(),
    text: await page.$eval("#user", (element) => element.textContent),
    contexts: browser.browserContexts().length,
    urls: browser.targets().map((target) => target.url()),
    cookies: (await page.cookies()).map(({ name, value }) => [name, value]),
  })),
);
console.log(JSON.stringify(seen));
await Promise.all(clients.map(({ browser }) => browser.disconnect()));
process.exit(0);
