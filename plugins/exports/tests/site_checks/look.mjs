// Looks at a built site in Chromium, at the width of a desk and of a phone, and writes what is wrong as JSON.
// node look.mjs ADDRESS CHROMIUM PROFILE [FOLDER FOR PICTURES] < a list of {name, path}
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address, executablePath, profile, pictures] = process.argv.slice(2);
const pages = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const SIZES = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const problems = [];
const counted = { looked: 0, rules: 0, tiles: 0 };

async function browser(name, more, work) {
  const context = await chromium.launchPersistentContext(`${profile}/${name}`, { executablePath, args, ...more });
  try {
    await work(context);
  } finally {
    await context.close();
  }
}

async function opened(context, path, where) {
  const page = await context.newPage();
  const say = (what) => problems.push(`${where} ${path}: ${what}`);
  page.on("pageerror", (error) => say(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && say(`console: ${message.text()}`));
  page.on("response", (answer) => {
    if (answer.status() >= 400) say(`${answer.status()} for ${answer.url()}`);
    if (/\/iiif\/.*\.jpg$/.test(answer.url())) counted.tiles += 1;
  });
  page.on("request", (request) => request.url().startsWith(address) || request.url().startsWith("data:") ||
    request.url().startsWith("blob:") || say(`asks ${request.url()}`));
  await page.goto(address + path, { waitUntil: "load" });
  return [page, say];
}

async function checked(page, say) {
  counted.looked += 1;
  await page.evaluate(axe);
  const answer = await page.evaluate(() => window.axe.run(document,
    { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  counted.rules += answer.passes.length;
  for (const one of answer.violations) say(`axe ${one.id}: ${one.nodes.map((node) => node.html).join(" ").slice(0, 300)}`);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) say(`is ${over} pixels wider than the window`);
  const small = await page.evaluate(() => [...document.images].filter((one) => one.loading !== "lazy" &&
    !one.naturalWidth).map((one) => one.src));
  if (small.length) say(`pictures that do not show: ${small}`);
}

const picture = (page, name, full) => pictures && page.screenshot({ path: `${pictures}/${name}.png`, fullPage: full });

for (const [size, viewport] of Object.entries(SIZES)) {
  await browser(size, { viewport }, async (context) => {
    for (const { name, path } of pages) {
      const [page, say] = await opened(context, path, size);
      await checked(page, say);
      await picture(page, `${size}-${name}`, true);
      if (name === "page") await zoomed(page, say, size);
      if (name === "search") await searched(page, say, size);
      await page.close();
    }
  });
}

async function zoomed(page, say, size) {
  const link = page.locator("a.show").first();
  await link.click();
  const filled = await page.evaluate(() => getComputedStyle(document.querySelector("polygon:target")).fill);
  if (/rgba\(0, 0, 0, 0\)|none|transparent/.test(filled)) say("a line that was chosen is not marked on the picture");
  await picture(page, `${size}-line`, false);
  const before = counted.tiles;
  await page.getByRole("button", { name: "Zoom" }).click();
  await page.waitForSelector("#zoom canvas");
  await page.waitForSelector("#zoom .mark", { timeout: 10_000 }).catch(() => say("the line is not marked in the viewer"));
  await page.waitForFunction(() => {
    const canvas = document.querySelector("#zoom canvas");
    const { width, height } = canvas;
    const data = canvas.getContext("2d", { willReadFrequently: true })?.getImageData(0, 0, width, height).data;
    return data === undefined || data.some((value) => value !== 0);
  }, null, { timeout: 10_000 }).catch(() => say("the viewer stays empty"));
  await page.waitForTimeout(800);
  if (counted.tiles === before) say("the viewer asked for no tile");
  await checked(page, say);
  await picture(page, `${size}-zoom`, false);
}

async function searched(page, say, size) {
  const word = pages.find((one) => one.word).word;
  await page.getByRole("searchbox").fill(word);
  await page.getByRole("button", { name: "Search" }).click();
  await page.waitForSelector("#found a", { timeout: 10_000 }).catch(() => say(`nothing is found for ${word}`));
  await checked(page, say);
  await picture(page, `${size}-found`, false);
  await page.locator("#found a").first().click();
  await page.waitForURL(/\/pages\//, { timeout: 10_000 }).catch(() => say("a hit leads to no page"));
}

// Without JavaScript everything but search and zoom works: pictures show, and lines lead to the picture and back.
await browser("plain", { viewport: SIZES.desk, javaScriptEnabled: false }, async (context) => {
  for (const { name, path } of pages) {
    const [page, say] = await opened(context, path, "plain");
    for (const image of await page.locator("main img").all()) {
      await image.scrollIntoViewIfNeeded();
      const box = await image.boundingBox();
      if (!box || box.width < 20 || box.height < 20) say("a picture does not show");
    }
    if (name === "page") {
      await page.locator("a.show").first().click();
      if (!/#zone-/.test(page.url()) || !(await page.locator("polygon:target").count())) say("a line leads to no place on the picture");
      await page.locator(`a[href="#line-${page.url().split("#zone-")[1]}"]`).first().evaluate((one) => one.getAttribute("href"))
        .then((href) => page.goto(page.url().split("#")[0] + href));
      if (!(await page.locator(".line:target").count())) say("the picture leads to no line");
    }
    if (name === "search" && !(await page.getByText("needs JavaScript").isVisible())) say("does not say that it needs JavaScript");
    if (pictures && ["page", "statements"].includes(name)) await page.pdf({ path: `${pictures}/print-${name}.pdf` });
    await page.close();
  }
});

console.log(JSON.stringify({ problems, ...counted }));
